using System.Text.RegularExpressions;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>No crash point without a test, no test of a point that is gone.</summary>
public sealed partial class CrashPointListTests
{
    [Fact]
    public void CrashPoints_Listed_AreThoseOfTheSources()
    {
        var listed = CrashPoints.Names.Concat(CrashPoints.NotReached.Keys).ToHashSet();
        Assert.Equal(InSources().Order(), listed.Order());
        Assert.Empty(CrashPoints.Names.Intersect(CrashPoints.NotReached.Keys));
    }

    /// <summary>Negative control: the pattern sees what it is meant to see.</summary>
    [Fact]
    public void CrashPoints_PlantedInASource_AreFound() =>
        Assert.Equal(["some.newPoint", "other"], Named("if (x) Crash.Hit(\"some.newPoint\"); _crash.Hit( \"other\");"));

    private static HashSet<string> InSources()
    {
        string root = AppContext.BaseDirectory;
        while (!File.Exists(Path.Combine(root, "Ambrosia.sln")))
            root = Path.GetDirectoryName(root) ?? throw new InvalidOperationException("the tests lie outside of the repository");
        return Directory.EnumerateFiles(Path.Combine(root, "ImmortalCoordinator"), "*.cs", SearchOption.AllDirectories)
            .Where(static file => !file.Contains("/obj/", StringComparison.Ordinal))
            .SelectMany(static file => Named(File.ReadAllText(file))).ToHashSet();
    }

    private static IEnumerable<string> Named(string text) => HitCall().Matches(text).Select(static match => match.Groups[1].Value);

    [GeneratedRegex("""\.?Hit\(\s*"([^"]+)"\)""")]
    private static partial Regex HitCall();
}
