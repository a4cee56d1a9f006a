using System.Text.RegularExpressions;

namespace Ambrosia.Tidy.Tests.Documents;

/// <summary>
/// Documents name the tests that hold what they say: each of these is there, and the page of guarantees promises nothing without one.
/// </summary>
public sealed partial class TestNameTests
{
    private const string Guarantees = "docs/guarantees.md", Open = "## What is not promised";

    [Fact]
    public void Documents_TestsThatTheyName_AreThere()
    {
        Dictionary<string, HashSet<string>> tests = Tests();
        IEnumerable<string> documents = Repository.Files.Where(
            static path => path.StartsWith("docs/", StringComparison.Ordinal) && path.EndsWith(".md", StringComparison.Ordinal));
        Repository.AssertNone(documents.SelectMany(path => Missing(path, Repository.Read(path), tests)));
    }

    [Fact]
    public void Guarantees_EachPromise_NamesItsTest() =>
        Repository.AssertNone(Untested(Repository.Read(Guarantees).Split(Open)[0]));

    [Fact]
    public void Documents_PlantedName_IsFound() =>
        Assert.Equal(["a.md: no test ATests.B_C_E…", "a.md: no test BTests"],
            Missing("a.md", "`ATests.B_C_…` `ATests.B_C_D` `ATests` `ATests.B_C_E…` `BTests`",
                new Dictionary<string, HashSet<string>> { ["ATests"] = ["B_C_D"] }));

    [Fact]
    public void Guarantees_PlantedPromise_IsFound() =>
        Assert.Equal(["no test for: - Nothing is lost."], Untested("- Nothing is lost.\n- All is kept\n  (`ATests.B`).\n"));

    private static IEnumerable<string> Missing(string path, string text, Dictionary<string, HashSet<string>> tests)
    {
        foreach (Match named in Named().Matches(text))
        {
            string type = named.Groups["type"].Value, method = named.Groups["method"].Value;
            bool isThere = tests.TryGetValue(type, out HashSet<string>? methods)
                && (method.Length == 0 || methods.Any(each => method.EndsWith('…')
                    ? each.StartsWith(method[..^1], StringComparison.Ordinal) : each == method));
            if (!isThere) yield return $"{path}: no test {named.Value.Trim('`')}";
        }
    }

    /// <summary>A promise is an item of a list, to the next one or the end of the list.</summary>
    private static IEnumerable<string> Untested(string text) =>
        Item().Matches(text).Select(static item => item.Value.Trim()).Where(static item => !Named().IsMatch(item))
            .Select(static item => $"no test for: {item}");

    private static Dictionary<string, HashSet<string>> Tests()
    {
        var tests = new Dictionary<string, HashSet<string>>();
        foreach (SourceFile source in Repository.Sources.Where(static source => source.Path.StartsWith("tests/", StringComparison.Ordinal)))
        {
            foreach (Match type in TypeName().Matches(source.Text))
            {
                if (!tests.TryGetValue(type.Groups["type"].Value, out HashSet<string>? methods))
                    tests.Add(type.Groups["type"].Value, methods = []);
                methods.UnionWith(MethodName().Matches(source.Text).Select(static method => method.Groups["method"].Value));
            }
        }
        return tests;
    }

    [GeneratedRegex(@"`(?<type>[A-Z]\w*Tests)(?:\.(?<method>\w+…?))?`")]
    private static partial Regex Named();

    [GeneratedRegex(@"^(?:- |\d\. |\| (?!---)(?!promise|replicas)).*(?:\n {2,}\S.*)*", RegexOptions.Multiline)]
    private static partial Regex Item();

    [GeneratedRegex(@"\bclass (?<type>\w+Tests)\b")]
    private static partial Regex TypeName();

    [GeneratedRegex(@"public (?:async )?(?:Task|void) (?<method>\w+)")]
    private static partial Regex MethodName();
}
