using System.Text;
using System.Text.Json;
using Ambrosia.Builds;
using Microsoft.CodeAnalysis;

namespace Ambrosia.Suspension.Tests.Builds;

/// <summary>
/// A build is its code: where, when and of which commit it was compiled makes no other one. An edit changes the hashes of those handlers
/// that may execute it, and of no others. Handler 14 finds code by its name, which could be any.
/// </summary>
public sealed class BuildTests : IDisposable
{
    private static readonly Lazy<BuildFacts> s_unchanged = new(static () =>
    {
        string root = Directory.CreateTempSubdirectory("ambrosia-build-").FullName;
        try
        {
            return BuiltApp.Compile(root, "unchanged", []).Read();
        }
        finally
        {
            Directory.Delete(root, recursive: true);
        }
    });

    private const string Declared = "public abstract long Of(long amount); }";

    private readonly string _root = Directory.CreateTempSubdirectory("ambrosia-build-").FullName;

    public void Dispose() => Directory.Delete(_root, recursive: true);

    [Fact]
    public void Build_OfAnotherDirectoryAndCommit_IsTheSame() =>
        Assert.Equal("", Difference([], commit: "another"));

    [Fact]
    public void Handlers_AllButQueries_AreStated() =>
        Assert.Equal(Enumerable.Range(1, 14).Select(static id => (uint)id), s_unchanged.Value.Methods.Keys.Order());

    [Fact]
    public void Build_OfDebug_IsAnother() =>
        Assert.StartsWith("build outside ", Difference([], level: OptimizationLevel.Debug), StringComparison.Ordinal);

    [Theory]
    [InlineData("x * 2 /*plain*/", "x * 4", "1 14")]
    [InlineData("return _clerk.Money += amount;", "thisProxy.PokeFork(x); return _clerk.Money += amount;", "1 14")]
    [InlineData("x + 1 /*second*/", "x + 2", "2 14")]
    [InlineData("2 /*flat*/", "3", "3 14")]
    [InlineData("each > 3 /*chosen*/", "each > 4", "resumed 4 14")]
    [InlineData("before * 3 /*later*/", "before * 4", "resumed 5 14")]
    [InlineData("Max = 100 /*limit*/", "Max = 101", "6 14")]
    [InlineData("PlainFork(x /*poke*/)", "PlainFork(x + 1)", "7 14")]
    [InlineData("x + by /*stored*/", "x - by", "resumed 8 9 14")]
    [InlineData("9 /*hidden*/", "10", "14")]
    [InlineData("$\"<{y}>\" /*dress*/", "$\"({y})\"", "13 14")]
    public void Handler_EditOfWhatItMayExecute_ChangesItAlone(string from, string to, string changed) =>
        Assert.Equal($"build {changed}", Difference([(from, to)]));

    /// <summary>A comparer stands in the state, out of sight of who calls the set.</summary>
    [Fact]
    public void Comparer_ThatTheFrameworkCalls_ChangesAll() =>
        Assert.Equal("build first resumed *", Difference([("y % 10 /*last*/", "y % 5")]));

    [Theory]
    [InlineData("_start = 5 /*initial*/", "_start = 6", "first 14")]
    [InlineData("_clerk.Money = 10 /*first*/", "_clerk.Money = 11", "first 14")]
    [InlineData("7 /*unused*/", "8", "14")]
    [InlineData("_clerk.Money /*asked*/", "-_clerk.Money", "14")]
    [InlineData("/*members*/", "private int More(int x) => x + 1;", "14")]
    public void Code_ThatNoHandlerExecutes_ChangesNoHandler(string from, string to, string changed) =>
        Assert.Equal($"build {changed}".TrimEnd(), Difference([(from, to)]));

    /// <summary>Both have the same name without ordinals: what tells them apart is whose they are.</summary>
    [Fact]
    public void Overloads_ThatSwapTheirBodies_AreChanged() =>
        Assert.Equal("build resumed 11 12 14", Difference([(BuiltApp.TwoBodies, BuiltApp.TwoBodiesSwapped)]));

    [Theory]
    [InlineData("/*fields*/", "public long More;")]
    [InlineData("public Size Size;", "public int Size;")]
    [InlineData("Big = 5 /*size*/", "Big = 6")]
    [InlineData("[Note(\"clerk\")]", "[Note(\"cleric\")]")]
    [InlineData("public string Name {", "[Note(\"n\")] public string Name {")]
    [InlineData("public static class Unused {", "public sealed class Added; public static class Unused {")]
    [InlineData("public abstract class Fees : IFee", "public abstract class Fees : IFee, ICloneable")]
    public void Declaration_ThatChanges_ChangesTheOutside(string from, string to) => Assert.Contains(" outside",
        Difference(to.Contains("ICloneable", StringComparison.Ordinal)
            ? [(from, to), (Declared, Declared[..^1] + "public object Clone() => this; }")]
            : [(from, to)]), StringComparison.Ordinal);

    [Theory]
    [InlineData("long amount = x * 2 /*plain*/;\n        return _clerk.Money += amount;", "long sum = x * 2; // a comment\n\n        return _clerk.Money += sum;")]
    [InlineData("private long Unrelated(long x)", "/* nothing */ private long Unrelated(long x)")]
    public void Source_OfTheSameIl_IsTheSame(string from, string to) => Assert.Equal("", Difference([(from, to)]));

    /// <summary>Members in front move the ordinals of everything that the compiler makes of those behind.</summary>
    [Fact]
    public void Members_InFront_ChangeNoHandler() => Assert.Equal("build resumed 14", Difference(
        [("public long Plain(long x)",
            "public long Before(long x) { Func<long> f = () => x; return f(); }\n    public async Call Wait() => await Delay(TimeSpan.Zero);\n    public long Plain(long x)")]));

    [Fact]
    public void Lambda_ThatIsAddedToABody_IsNotOutside() => Assert.Equal("build resumed 2 14",
        Difference([("=> Steps.First(x) + _start;", "{ long by = x; Func<long> f = () => by + 1; return Steps.First(f()) + _start; }")]));

    [Fact]
    public void Handler_ThatIsAdded_ChangesNoOther()
    {
        BuildFacts added = Edited(
            [("/*contract*/", "[MethodId(77)] void Added(long x, string y);"),
                ("/*members*/", "public void Added(long x, string y) => _clerk.Name = y;")]);
        Assert.Equal("build 14 77", s_unchanged.Value.DifferenceTo(added));
    }

    [Fact]
    public void Document_OfTheseFiles_IsTaken()
    {
        BuiltApp app = BuiltApp.Compile(_root, "app", []);
        string file = Path.Combine(_root, "app.build.json");
        AppBuild computed = AppBuild.Of(app.Files, file)!;
        string json = Encoding.UTF8.GetString(computed.Methods.Span);
        File.WriteAllText(file, json.Replace("Demo.IShop.Plain", "Demo.IShop.Marked", StringComparison.Ordinal));
        AppBuild read = AppBuild.Of(app.Files, file)!;
        Assert.Equal(computed.Build.ToArray(), read.Build.ToArray());
        Assert.Contains("Demo.IShop.Marked", Encoding.UTF8.GetString(read.Methods.Span), StringComparison.Ordinal);
    }

    [Fact]
    public void Document_OfOtherFiles_IsNotTaken()
    {
        string file = Path.Combine(_root, "app.build.json");
        BuiltApp other = BuiltApp.Compile(_root, "other", [("x * 2 /*plain*/", "x * 4")]), app = BuiltApp.Compile(_root, "app", []);
        File.WriteAllBytes(file, AppBuild.Of(other.Files, file)!.Methods.Span);
        Assert.Equal(s_unchanged.Value.Build, Convert.ToHexStringLower(AppBuild.Of(app.Files, file)!.Build.Span));
        File.WriteAllText(file, "{");
        Assert.Equal(s_unchanged.Value.Build, Convert.ToHexStringLower(AppBuild.Of(app.Files, file)!.Build.Span));
    }

    [Fact]
    public void File_WithoutIl_CountsByItsBytes()
    {
        BuiltApp app = BuiltApp.Compile(_root, "app", []);
        string native = Path.Combine(_root, "native.dll");
        File.WriteAllText(native, "one");
        string one = BuildReader.Read([.. app.Files, native]).Build;
        Assert.Equal(one, BuildReader.Read([native, .. app.Files.Reverse()]).Build);
        File.WriteAllText(native, "two");
        Assert.NotEqual(one, BuildReader.Read([.. app.Files, native]).Build);
    }

    [Fact]
    public void ThisProcess_StatesABuild()
    {
        AppBuild build = AppBuild.OfThisApp(typeof(BuildTests).Assembly)!;
        Assert.Equal(AppBuild.BuildBytes, build.Build.Length);
        using JsonDocument document = JsonDocument.Parse(build.Methods);
        string[] files = [.. document.RootElement.GetProperty("assemblies").EnumerateArray()
            .Select(static each => each.GetProperty("name").GetString()!)];
        Assert.Contains("Ambrosia.Suspension.Tests.dll", files);
        Assert.DoesNotContain("System.Private.CoreLib.dll", files);
    }

    private string Difference((string, string)[] edits, string commit = "a1", OptimizationLevel level = OptimizationLevel.Release) =>
        s_unchanged.Value.DifferenceTo(Edited(edits, commit, level));

    private BuildFacts Edited((string, string)[] edits, string commit = "a1", OptimizationLevel level = OptimizationLevel.Release) =>
        BuiltApp.Compile(_root, "edited", edits, commit, level).Read();
}
