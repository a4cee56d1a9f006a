using System.Reflection;
using Ambrosia.Images.Comparison;
using Ambrosia.Images.Nodes;
using Ambrosia.Protocol.Payloads;
using Ambrosia.TestKit;

namespace Ambrosia.Binding.Tests.Images;

/// <summary>Two images are compared by what stands at their paths, and by nothing that is no part of the state.</summary>
public sealed class ImageComparisonTests
{
    private static readonly int s_seed = int.TryParse(Environment.GetEnvironmentVariable("AMBROSIA_FUZZ_SEED"), out int seed)
        ? seed : 20261123;

    /// <summary>Whatever one field of one object becomes, images of other bytes differ at a path, and equal ones at none.</summary>
    [Fact]
    public void Images_ThatDifferInOneField_DifferWhereTheBytesDo()
    {
        FieldInfo[] fields = [.. typeof(Everything).GetFields(BindingFlags.Instance | BindingFlags.Public | BindingFlags.NonPublic)
            .Where(static field => !field.IsInitOnly)];
        int different = 0;
        for (int i = TestScale.Rounds(2_000); i > 0; i--)
        {
            var random = new Random(s_seed + i);
            object before = new RandomState(s_seed + i).Make(), after = new RandomState(s_seed + i).Make();
            Everything[] all = [.. ((List<object?>)after).OfType<Everything>()];
            if (all.Length < 2) continue;
            FieldInfo field = fields[random.Next(fields.Length)];
            field.SetValue(all[random.Next(all.Length)], field.GetValue(all[random.Next(all.Length)]));
            byte[] first = GraphBytes.Written(before), second = GraphBytes.Written(after);
            ImageDifferences found = Compare(first, second, 10);
            bool areSame = first.AsSpan().SequenceEqual(second);
            Assert.True(areSame == found.AreNone, $"AMBROSIA_FUZZ_SEED={s_seed + i}: {field.Name}, bytes equal {areSame}, {found.Count} differences");
            if (!areSame) different++;
        }
        Assert.True(different > 0, "no field became another");
    }

    [Fact]
    public void Lines_SayWhatStandsInEach()
    {
        var long200 = new Mixed { Text = new string('b', 200) };
        var first = new Dictionary<string, object?> { ["alice"] = new Name("a"), ["bob"] = long200, ["n"] = 1L };
        var second = new Dictionary<string, object?> { ["alice"] = new Name("z"), ["n"] = null, ["carol"] = new[] { 1, 2 } };
        Assert.Equal(
            [
                "[0][\"alice\"].Given: \"a\" → \"z\"",
                $"[0][\"bob\"]: removed, {{\"Text\":\"{new string('b', 71)}…",
                "[0][\"n\"]: 1 → null",
                "[0][\"carol\"]: added, [1,2]",
                "[1][1]: 2 → 3",
                "[1][2]: removed, 9",
                "[2][\"red\"]: removed, \"red\"",
                "[2][\"blue\"]: added, \"blue\"",
            ],
            Lines(new object[] { first, new[] { 1, 2, 9 }, new HashSet<string> { "red", "green" } },
                new object[] { second, new[] { 1, 3 }, new HashSet<string> { "green", "blue" } }));
    }

    /// <summary>An object is where its path leads, whatever number it has in either image.</summary>
    [Fact]
    public void Objects_ThatMoved_AreMatchedByPath()
    {
        var moved = new Name("x");
        Assert.Empty(Lines(
            new object?[] { new Mixed { Object = null }, moved, new Name("y") },
            new object?[] { new Mixed { Object = null }, new Name("x"), new Name("y") }));
        string[] lines = Lines(new object?[] { null, moved }, new object?[] { new Name("first"), moved });
        Assert.Equal(["[0]: null → {\"Given\":\"first\"}"], lines);
    }

    [Fact]
    public void Objects_ThatAreSharedInOneOnly_AreToldOf()
    {
        var shared = new Name("x");
        string[] lines = Lines(new object[] { shared, shared }, new object[] { shared, new Name("x") });
        Assert.Equal("[1]: an object that it has alone in one, and with another place in the other", Assert.Single(lines));
    }

    [Fact]
    public void Objects_OfAnotherType_AreNamedByIt()
    {
        string line = Assert.Single(Lines(new object[] { new Name("x") }, new object[] { new Mixed() }));
        Assert.StartsWith(
            "[0]: {\"$type\":\"Ambrosia.Binding.Tests.Images.Name\",\"Given\":\"x\"} → {\"$type\":\"", line, StringComparison.Ordinal);
    }

    [Fact]
    public void Entries_InAnotherOrder_AreToldOfOnce()
    {
        var first = new Dictionary<string, int> { ["a"] = 1, ["b"] = 2, ["c"] = 3 };
        var second = new Dictionary<string, int> { ["c"] = 3, ["b"] = 2, ["a"] = 1 };
        Assert.Equal(["[0]: the same entries in another order"], Lines(new object[] { first }, new object[] { second }));
    }

    [Fact]
    public void Differences_BeyondTheBound_AreCounted()
    {
        ImageDifferences found = Compare(
            GraphBytes.Written(Enumerable.Range(0, 1_000).ToArray()), GraphBytes.Written(Enumerable.Range(1, 1_000).ToArray()), 10);
        Assert.Equal((10, 1_000), (found.Shown.Count, found.Count));
        Assert.Equal("[9]: 9 → 10", found.Shown[9].ToString());
    }

    /// <summary>A chain of any length is compared to its end, without a stack as long.</summary>
    [Fact]
    public void Images_OfALongChain_DifferAtItsEnd()
    {
        object Chain(string end)
        {
            object last = end;
            for (int i = 0; i < 20_000; i++) last = new object[] { last };
            return last;
        }
        string line = Assert.Single(Lines(Chain("a"), Chain("b")));
        Assert.EndsWith("[0][0]: \"a\" → \"b\"", line, StringComparison.Ordinal);
        Assert.Empty(Lines(Chain("a"), Chain("a")));
    }

    private static string[] Lines(object before, object after) =>
        [.. Compare(GraphBytes.Written(before), GraphBytes.Written(after), 100).Shown.Select(static each => each.ToString())];

    private static ImageDifferences Compare(byte[] before, byte[] after, int shownMax)
    {
        using LargeBuffer first = GraphBytes.Buffered(before), second = GraphBytes.Buffered(after);
        return ImageComparison.Of(ImageTree.ReadGraph(first), ImageTree.ReadGraph(second), shownMax);
    }
}
