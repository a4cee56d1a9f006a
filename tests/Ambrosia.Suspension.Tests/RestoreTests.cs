using System.Text.Json;
using Microsoft.CodeAnalysis;

namespace Ambrosia.Suspension.Tests;

/// <summary>
/// Written in one process, restored in another, which may run another build: unrelated changes restore all with the same bytes and the same
/// rest of the run; changed bodies are refused, those and no others.
/// </summary>
public sealed class RestoreTests : IDisposable
{
    private const int StopsMin = 200;

    /// <summary>Members before, between and reordered, comments, lines, a helper's body.</summary>
    private static readonly (string, string)[] s_unrelated =
    [
        ("//+members",
            "private int added() { Func<int, int> f = x => x + _trace.Count; return f(1); }\n    private static readonly Func<int> s_cached = () => 7;\n    public async Call<long> Added() { long a = await Get(\"added\"); Func<long> g = () => a; return g(); }\n"),
        ("//+between",
            "// a comment\n\n    private static string Between<T>(T value) { Func<T, string> f = v => v + \"\"; return f(value); }\n"),
        ("/*+helper*/", "\n    private int Helper(int a) => a + 1;"),
        ("private string Join(string l, long m, int y, string r) => l + \"|\" + m + \"|\" + y + \"|\" + r;",
            "private string Join(string l, long m, int y, string r) => string.Join(\"|\", l, m, y, r);"),
        ("        long fee = 0;\n", "        // fees are added up\n\n        long   fee = 0; /* from nothing */\n"),
        ("public abstract class Asker", "public sealed class Unrelated { public Func<int> F = () => 1; }\n\npublic abstract class Asker"),
    ];

    /// <summary>
    /// One edit each, the method that it changes, and the shapes that it concerns: the method itself, and those that
    /// call it and wait for it.
    /// </summary>
    private static readonly (string From, string To, string Method, string[] Shapes)[] s_changed =
    [
        ("from.Balance -= fee;", "from.Balance -= fee + 1;", "Transfer(", ["Transfer"]),
        ("return Join(Side(\"l\"), await Get(\"m\"), y, Side(\"r\")",
            "return Join(Side(\"l\") + Side(\"k\"), await Get(\"m\"), y, Side(\"s\")", "Spill(", ["Spill"]),
        ("order[1].Balance *= 2 + await Get(\"d\");", "order[1].Balance *= 3 + await Get(\"d\");", "Compound(", ["Compound"]),
        ("text += \"f\" + await Get(\"in finally\");", "text += \"g\" + await Get(\"in finally\");", "CatchFinally(", ["CatchFinally"]),
        ("Func<int, int> plus = static q => q + 1;", "Func<int, int> plus = static q => q + 2;", "Closures(", ["Closures"]),
        ("if (i == 1) value += await Get(\"again\");", "if (i == 2) value += await Get(\"again\");", "Child(",
            ["FanOut", "Many", "AnyOf", "Cancelled"]),
        ("await Get(\"depth\" + depth);", "await Get(\"level\" + depth);", "Down(", ["Recursion"]),
        ("return f(got); }\n    private async Call<long> Over(string", "return f(got) + 1; }\n    private async Call<long> Over(string",
            "Over(int)", ["Overloads"]),
        ("sum += await Get(key); return sum; };", "sum -= await Get(key); return sum; };", "AsyncLambdas(", ["AsyncLambdas"]),
        ("Current = await _owner.Get(\"count\" + _left);", "Current = 1 + await _owner.Get(\"count\" + _left);", "MoveNextAsync(",
            ["AwaitForeach"]),
        ("Func<string> text = () => \"\" + _key + _number + value;", "Func<string> text = () => \"\" + value + _number + _key;", ".Ask",
            ["NestedGeneric"]),
        ("public async Call<string> Anonymous()\n    {", "public async Call<string> Anonymous()\n    {\n        await Get(\"before\");",
            "Anonymous(", ["Anonymous"]),
    ];

    private readonly string _root = Directory.CreateTempSubdirectory("ambrosia-suspend-").FullName;

    public void Dispose() => Directory.Delete(_root, recursive: true);

    [Theory]
    [MemberData(nameof(OptimizationLevels.Tried), MemberType = typeof(OptimizationLevels))]
    public void Images_OfAllShapes_RestoreInAnotherProcess(OptimizationLevel level)
    {
        Variant same = Variant.Compile(_root, "same", Variant.Source, level);
        Variant moved = Variant.Compile(_root, "moved", Variant.Edit(Variant.Source, s_unrelated), level);
        string images = Path.Combine(_root, "images");

        (string Shape, string Outcome)[] written = ShapeProcess.Run("write", same, images);
        Assert.True(written.Length >= StopsMin, $"{written.Length} stops");
        AssertAll("written", written);
        AssertAll("same", ShapeProcess.Run("read", same, images));
        AssertAll("same", ShapeProcess.Run("read", moved, images));
    }

    [Theory]
    [MemberData(nameof(OptimizationLevels.Tried), MemberType = typeof(OptimizationLevels))]
    public void Images_OfChangedBodies_AreRefusedAndNoOthers(OptimizationLevel level)
    {
        Variant same = Variant.Compile(_root, "same", Variant.Source, level);
        Variant other = Variant.Compile(_root, "changed",
            Variant.Edit(Variant.Source, [.. s_unrelated, .. s_changed.Select(static each => (each.From, each.To))]), level);
        string images = Path.Combine(_root, "images");
        AssertAll("written", ShapeProcess.Run("write", same, images));

        (string Shape, string Outcome)[] read = ShapeProcess.Run("read", other, images);
        var expected = s_changed.SelectMany(static each => each.Shapes).ToHashSet();
        AssertAll("same", read.Where(each => !expected.Contains(each.Shape)));
        foreach (IGrouping<string, (string Shape, string Outcome)> shape in read.Where(each => expected.Contains(each.Shape))
            .GroupBy(static each => each.Shape))
        {
            // A shape whose changed helper is not suspended at a stop goes on with the new code: what it then says may
            // differ, but it is not refused.
            Assert.Contains(shape, static each => each.Outcome.StartsWith("refused ", StringComparison.Ordinal));
            Assert.All(shape,
                static each =>
                    Assert.True(
                        each.Outcome.StartsWith("refused ", StringComparison.Ordinal)
                        || each.Outcome.StartsWith("differs", StringComparison.Ordinal) || each.Outcome == "same", each.Outcome));
        }
        foreach ((string shape, string outcome) in read.Where(static each => each.Outcome.StartsWith("refused ", StringComparison.Ordinal)))
        {
            string[] lines = [.. outcome.Split(" | ").Where(static line => line.Contains(" at await #", StringComparison.Ordinal))];
            string[] methods = [.. s_changed.Where(each => each.Shapes.Contains(shape)).Select(static each => each.Method)];
            Assert.NotEmpty(lines);
            Assert.All(lines,
                line =>
                    Assert.True(methods.Any(method => line.Contains(method, StringComparison.Ordinal)) && char.IsDigit(line[0]),
                        $"{shape}: {line}"));
        }
        Assert.Equal(expected.Order(),
            read.Where(static each => each.Outcome.StartsWith("refused ", StringComparison.Ordinal)).Select(static each => each.Shape)
                .Distinct().Order());
    }

    [Fact]
    public void Image_OfAReleaseBuild_IsRefusedByADebugBuild()
    {
        string images = Path.Combine(_root, "images");
        AssertAll("written",
            ShapeProcess.Run("write", Variant.Compile(_root, "release", Variant.Source, OptimizationLevel.Release), images));

        (string Shape, string Outcome)[] read = ShapeProcess.Run("read",
            Variant.Compile(_root, "debug", Variant.Source, OptimizationLevel.Debug), images, acceptSource: true);
        Assert.All(read, static each => Assert.StartsWith("refused ", each.Outcome, StringComparison.Ordinal));
    }

    /// <summary>
    /// The negative control of "same", and a rule: a changed method that is not suspended is no reason to refuse, and the new code runs.
    /// </summary>
    [Fact]
    public void Helper_ThatIsNotSuspended_RunsTheNewCode()
    {
        string images = Path.Combine(_root, "images");
        AssertAll("written", ShapeProcess.Run("write", Variant.Compile(_root, "same", Variant.Source, OptimizationLevel.Release), images));
        Variant other = Variant.Compile(_root, "helper", Variant.Edit(Variant.Source, ("=> value / 2;", "=> value - 100;")),
            OptimizationLevel.Release);

        (string Shape, string Outcome)[] read = ShapeProcess.Run("read", other, images);
        AssertAll("same", read.Where(static each => each.Shape != "Delegates"));
        Assert.All(read.Where(static each => each.Shape == "Delegates"),
            static each => Assert.StartsWith("differs: ", each.Outcome, StringComparison.Ordinal));
    }

    /// <summary>
    /// A default argument elsewhere is compiled into the method: its IL differs, its source does not. That is enough
    /// if the operator says so.
    /// </summary>
    [Fact]
    public void Body_OfTheSameSource_IsAcceptedIfAsked()
    {
        string images = Path.Combine(_root, "images");
        AssertAll("written", ShapeProcess.Run("write", Variant.Compile(_root, "same", Variant.Source, OptimizationLevel.Release), images));
        Variant other = Variant.Compile(_root, "default", Variant.Edit(Variant.Source, ("string with = \"|\"", "string with = \"!\"")),
            OptimizationLevel.Release);

        (string Shape, string Outcome)[] refused = ShapeProcess.Run("read", other, images),
            accepted = ShapeProcess.Run("read", other, images, acceptSource: true);
        AssertAll("same", refused.Concat(accepted).Where(static each => each.Shape != "Spill"));
        Assert.All(refused.Where(static each => each.Shape == "Spill"),
            static each => Assert.Contains("its source is the same but was compiled differently", each.Outcome, StringComparison.Ordinal));
        Assert.All(accepted.Where(static each => each.Shape == "Spill"),
            static each => Assert.StartsWith("its image has other bytes", each.Outcome, StringComparison.Ordinal));
    }

    /// <summary>
    /// The generator and the compiled assembly name methods alike, in both configurations, and unrelated edits leave the
    /// hashes of sources alone.
    /// </summary>
    [Fact]
    public void SourceHashes_AreOfTheMethodAlone()
    {
        Dictionary<string, string> same = Sources(Variant.Compile(_root, "same", Variant.Source, OptimizationLevel.Release));
        Dictionary<string, string> debug = Sources(Variant.Compile(_root, "debug", Variant.Source, OptimizationLevel.Debug));
        Dictionary<string, string> moved = Sources(
            Variant.Compile(_root, "moved", Variant.Edit(Variant.Source, s_unrelated), OptimizationLevel.Release));
        Dictionary<string, string> edited = Sources(
            Variant.Compile(_root, "edited", Variant.Edit(Variant.Source, ("from.Balance -= fee;", "from.Balance -= 2 * fee;")),
                OptimizationLevel.Release));

        Assert.True(same.Count > 40);
        Assert.DoesNotContain(same, static each => each.Value.Length == 0);
        Assert.Equal(same, debug);
        Assert.Equal(same, moved.Where(each => same.ContainsKey(each.Key)).ToDictionary());
        Assert.Equal(["Demo.Shapes.Transfer():Ambrosia.Call`1<System.Int64>"],
            same.Where(each => edited[each.Key] != each.Value).Select(static each => each.Key));
    }

    /// <summary>Of the methods that are async themselves, by id.</summary>
    private static Dictionary<string, string> Sources(Variant variant)
    {
        string file = Path.ChangeExtension(variant.File, ".suspend.json");
        ShapeProcess.RunContractFile(variant, file);
        using JsonDocument json = JsonDocument.Parse(File.ReadAllText(file));
        return json.RootElement.GetProperty("methods").EnumerateArray()
            .Where(
                static row =>
                    row.GetProperty("types").EnumerateArray().Any(static type => type.GetProperty("role").GetString() == "machine"))
            .ToDictionary(static row => row.GetProperty("id").GetString()!, static row => row.GetProperty("source").GetString()!);
    }

    /// <summary>
    /// The file that the build writes is what an app goes by; without one, or with that of another build, it reads its own
    /// IL, with the same outcome.
    /// </summary>
    [Fact]
    public void SuspendFile_OfTheBuild_IsReadIfItIsOfThisBuild()
    {
        string images = Path.Combine(_root, "images");
        Variant variant = Variant.Compile(_root, "same", Variant.Source, OptimizationLevel.Release);
        AssertAll("written", ShapeProcess.Run("write", variant, images));
        string file = Path.ChangeExtension(variant.File, ".suspend.json");
        ShapeProcess.RunContractFile(variant, file);
        string json = File.ReadAllText(file);
        Assert.Contains("\"text\": \"fee += await Get(", json.Replace("\\u0022", "'", StringComparison.Ordinal), StringComparison.Ordinal);
        AssertAll("same", ShapeProcess.Run("read", variant, images));

        string il = json[json.IndexOf("Demo.Shapes.Transfer()", StringComparison.Ordinal)..].Split("\"il\": \"")[1].Split('"')[0];
        File.WriteAllText(file, json.Replace(il, "another", StringComparison.Ordinal));
        (string Shape, string Outcome)[] read = ShapeProcess.Run("read", variant, images);
        AssertAll("same", read.Where(static each => each.Shape != "Transfer"));
        Assert.All(read.Where(static each => each.Shape == "Transfer"),
            static each => Assert.StartsWith("refused ", each.Outcome, StringComparison.Ordinal));

        File.WriteAllText(file,
            File.ReadAllText(file)
                .Replace("\"mvid\": \"", "\"mvid\": \"00000000-0000-0000-0000-000000000000\", \"was\": \"", StringComparison.Ordinal));
        AssertAll("same", ShapeProcess.Run("read", variant, images));
    }

    private static void AssertAll(string outcome, IEnumerable<(string Shape, string Outcome)> found)
    {
        string[] others = [.. found.Where(each => each.Outcome != outcome).Select(static each => $"{each.Shape}: {each.Outcome}")];
        Assert.True(others.Length == 0, $"{others.Length} not {outcome}:\n{string.Join('\n', others.Distinct().Take(40))}");
    }
}
