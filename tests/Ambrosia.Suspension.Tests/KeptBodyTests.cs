using System.Text.Json;
using Microsoft.CodeAnalysis;

namespace Ambrosia.Suspension.Tests;

/// <summary>
/// Methods are edited while they are suspended, and their old bodies kept: what is suspended goes on as if nothing had been edited, with
/// equal images on all replicas, and new calls run what was edited.
/// </summary>
public sealed class KeptBodyTests : IDisposable
{
    /// <summary>One edit each, within one method, and the shapes in which that method is suspended.</summary>
    private static readonly (string From, string To, string[] Shapes)[] s_changed =
    [
        ("from.Balance -= fee;", "from.Balance -= fee + 1; await Get(\"more\");", ["Transfer"]),
        ("y, Side(\"r\") + await Name(\"n\"))", "y, Side(\"s\") + await Name(\"n\"))", ["Spill"]),
        ("_order[1].Balance *= 2 + await Get(\"d\");", "_order[1].Balance *= 3 + await Get(\"d\");", ["Compound"]),
        ("text += \"f\" + await Get(\"in finally\");", "text += \"g\" + await Get(\"in finally\");", ["CatchFinally"]),
        ("pair.s += account.Name;", "pair.s += account.Name + \"!\";", ["ForeachList"]),
        ("Func<int, int> plus = static q => q + 1;", "Func<int, int> plus = static q => q + 2;", ["Closures"]),
        ("if (i == 1) value += await Get(\"again\");", "if (i == 2) value += await Get(\"again\");",
            ["FanOut", "Many", "AnyOf", "Cancelled"]),
        ("await Get(\"depth\" + depth);", "await Get(\"level\" + depth);", ["Recursion"]),
        ("Func<long, long> f = x => x + value;", "Func<long, long> f = x => x - value;", ["Overloads"]),
        ("{ sum += await Get(key); return sum; };", "{ sum -= await Get(key); return sum; };", ["AsyncLambdas"]),
        ("return half(value) + count([1, 2])", "return half(value) - count([1, 2])", ["Delegates"]),
        ("Func<string> text = () => \"\" + _key + _number + value;", "Func<string> text = () => \"\" + value + _number + _key;",
            ["NestedGeneric"]),
        ("return item.Name + (item.Number + value);", "return item.Name + item.Number + value;", ["Anonymous"]),
        ("Note(\"finally \" + await Get(\"finally \" + key));", "Note(\"at last \" + await Get(\"at last \" + key));", ["ReturnInFinally"]),
    ];

    /// <summary>The shapes that call the method again, which then runs its new body.</summary>
    private static readonly (string From, string To, string Shape)[] s_calledAgain =
    [
        ("Current = await _owner.Get(\"count\" + _left);", "Current = 1 + await _owner.Get(\"count\" + _left);", "AwaitForeach"),
        ("return typeof(T).Name + name", "return name + typeof(T).Name", "Generic"),
    ];

    private static readonly (string From, string To)[] s_edits =
        [.. s_changed.Select(static each => (each.From, each.To)), .. s_calledAgain.Select(static each => (each.From, each.To))];

    private readonly string _root = Directory.CreateTempSubdirectory("ambrosia-kept-").FullName;

    public void Dispose() => Directory.Delete(_root, recursive: true);

    [Theory]
    [MemberData(nameof(OptimizationLevels.Tried), MemberType = typeof(OptimizationLevels))]
    public void Images_OfChangedMethods_FinishOnTheBodiesThatAreKept(OptimizationLevel level)
    {
        string images = Path.Combine(_root, "images");
        Variant same = Variant.Compile(_root, "same", Variant.Source, level);
        ShapeProcess.Run("write", same, images);

        (string Shape, string Outcome)[] read = ShapeProcess.Run("keep",
            Variant.Compile(_root, "kept", Keeping.Edit(Variant.Source, s_edits), level), images);

        string[] changed = [.. s_changed.SelectMany(static each => each.Shapes)],
            again = [.. s_calledAgain.Select(static each => each.Shape)];
        Assert.All(read.Where(each => !again.Contains(each.Shape)),
            static each => Assert.True(each.Outcome is "same" or "kept", $"{each.Shape}: {each.Outcome}"));
        Assert.Equal(changed.Order(),
            read.Where(each => !again.Contains(each.Shape) && each.Outcome == "kept").Select(static each => each.Shape).Distinct().Order());
        Assert.All(again, shape =>
        {
            string[] outcomes = [.. read.Where(each => each.Shape == shape).Select(static each => each.Outcome)];
            Assert.Contains("kept", outcomes); // nothing was called again behind that stop
            Assert.Contains(outcomes, static outcome => outcome.StartsWith("differs: ", StringComparison.Ordinal));
            Assert.DoesNotContain(outcomes, static outcome => outcome.StartsWith("refused ", StringComparison.Ordinal));
        });

        // Back to the old build: each body is that of the method's own name there, though the images name the ones that kept it.
        (string Shape, string Outcome)[] back = ShapeProcess.Run("read", same, images);
        Assert.All(back, static each => Assert.True(each.Outcome is "same" or "kept", $"{each.Shape}: {each.Outcome}"));
        Assert.Equal(read.Where(static each => each.Outcome == "kept").Select(static each => each.Shape).Distinct().Order(),
            back.Where(static each => each.Outcome == "kept").Select(static each => each.Shape).Distinct().Order());
    }

    /// <summary>The hashes of a kept body are those that it had under its former name, with all that the compiler made of it.</summary>
    [Theory]
    [MemberData(nameof(OptimizationLevels.Tried), MemberType = typeof(OptimizationLevels))]
    public void Body_ThatIsKept_HasItsFormerHashes(OptimizationLevel level)
    {
        Dictionary<string, JsonElement> same = Bodies(Variant.Compile(_root, "same", Variant.Source, level));
        JsonElement[] kept = [.. Bodies(Variant.Compile(_root, "kept", Keeping.Edit(Variant.Source, s_edits), level)).Values
            .Where(static row => row.TryGetProperty("formerOf", out _))];

        Assert.Equal(s_edits.Length, kept.Length);
        foreach (JsonElement row in kept)
        {
            JsonElement before = same[row.GetProperty("formerOf").GetString()!];
            Assert.Equal(Facts(before), Facts(row));
            Assert.NotEmpty(row.GetProperty("source").GetString()!);
        }
    }

    /// <summary>Kept as it never was, it continues nothing.</summary>
    [Fact]
    public void Body_ThatIsKeptOtherwise_IsRefusedAndSaysSo()
    {
        string images = Path.Combine(_root, "images");
        ShapeProcess.Run("write", Variant.Compile(_root, "same", Variant.Source, OptimizationLevel.Release), images);
        string source = Keeping.Edit(Variant.Source, ("from.Balance -= fee;", "from.Balance -= 2 * fee;"));
        Variant other = Variant.Compile(
            _root, "other", Variant.Edit(source, ("from.Balance -= fee;", "from.Balance -= 3 * fee;")), OptimizationLevel.Release);

        (string Shape, string Outcome)[] read = ShapeProcess.Run("read", other, images);
        Assert.All(read.Where(static each => each.Shape == "Transfer"), static each => Assert.Contains(
            ": its body changed, and what Demo.Shapes.TransferBefore() keeps is another body than the one that is suspended",
            each.Outcome, StringComparison.Ordinal));
        Assert.All(read.Where(static each => each.Shape != "Transfer"), static each => Assert.Equal("same", each.Outcome));
    }

    /// <summary>Hashes, and what every build calls the parts and the locals.</summary>
    private static string[] Facts(JsonElement row) =>
    [
        row.GetProperty("il").GetString()!, row.GetProperty("source").GetString()!,
        .. row.GetProperty("types").EnumerateArray().Select(static type => $"{type.GetProperty("role")} {type.GetProperty("layout")}"),
        .. row.GetProperty("functions").EnumerateArray().Select(static function => function.GetProperty("role").GetString()!),
    ];

    private static Dictionary<string, JsonElement> Bodies(Variant variant)
    {
        string file = Path.ChangeExtension(variant.File, ".suspend.json");
        ShapeProcess.RunContractFile(variant, file);
        using JsonDocument json = JsonDocument.Parse(File.ReadAllText(file));
        return json.RootElement.GetProperty("methods").EnumerateArray()
            .ToDictionary(static row => row.GetProperty("id").GetString()!, static row => row.Clone());
    }
}
