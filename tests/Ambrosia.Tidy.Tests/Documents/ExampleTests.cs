using System.Text.RegularExpressions;

namespace Ambrosia.Tidy.Tests.Documents;

/// <summary>
/// Examples of docs/programming-model.md and docs/hosting.md are code that tests run: each <c>```csharp</c> block stands behind <c>&lt;!--
/// example: NAME --&gt;</c> and is, but for its indentation, the <c>#region NAME</c> of a file under tests/*/Examples/. Every such region
/// is shown.
/// </summary>
public sealed partial class ExampleTests
{
    private const string HostsFolder = "tests/Ambrosia.Hosting.Tests/";

    [Theory]
    [InlineData("docs/programming-model.md", false)]
    [InlineData("docs/hosting.md", true)]
    public void Examples_OfADocument_AreTestedCode(string document, bool isOfHosts)
    {
        IEnumerable<string> examples = Repository.Files.Where(
            path => IsExample(path) && path.StartsWith(HostsFolder, StringComparison.Ordinal) == isOfHosts);
        Repository.AssertNone(FindDifferences(document, Repository.Read(document), Regions(examples.Select(Repository.Read)))
            .Select(what => new Finding(document, what)));
    }

    [Fact]
    public void Examples_PlantedDifferences_AreFound()
    {
        Dictionary<string, string> regions = Regions(
            ["class A\n{\n    #region one\n    int a;\n\n    int b;\n    #endregion\n    #region two\n    int c;\n    #endregion\n}"]);
        Assert.Equal(("int a;\n\nint b;", "int c;"), (regions["one"], regions["two"]));
        const string Fence = "```";
        Assert.Equal(
            ["a.md: example one is not its region", "a.md: example none has no region", "a.md: 1 C# block without a name",
                "a.md: region two is not shown"],
            FindDifferences("a.md",
                $"<!-- example: one -->\n{Fence}csharp\nint a;\n{Fence}\n<!-- example: none -->\n{Fence}csharp\nint a;\n{Fence}\ntext\n{Fence}csharp\n{Fence}\n",
                regions));
        Assert.Equal(["a.md: region two is not shown"],
            FindDifferences("a.md", $"<!-- example: one -->\n{Fence}csharp\nint a;\n\nint b;\n{Fence}\n", regions));
    }

    private static bool IsExample(string path) =>
        path.StartsWith("tests/", StringComparison.Ordinal) && path.Contains("/Examples/", StringComparison.Ordinal)
        && path.EndsWith(".cs", StringComparison.Ordinal);

    private static List<string> FindDifferences(string document, string text, Dictionary<string, string> regions)
    {
        var found = new List<string>();
        var shown = new HashSet<string>();
        foreach (Match example in Example().Matches(text))
        {
            string name = example.Groups["name"].Value;
            shown.Add(name);
            if (!regions.TryGetValue(name, out string? code)) found.Add($"{document}: example {name} has no region");
            else if (code != example.Groups["code"].Value.TrimEnd()) found.Add($"{document}: example {name} is not its region");
        }

        int blocks = Block().Count(text);
        if (blocks != Example().Count(text)) found.Add($"{document}: {blocks - Example().Count(text)} C# block without a name");
        found.AddRange(
            regions.Keys.Where(name => !shown.Contains(name)).Order(StringComparer.Ordinal)
                .Select(name => $"{document}: region {name} is not shown"));
        return found;
    }

    /// <summary>The regions of sources by name, without their indentation.</summary>
    private static Dictionary<string, string> Regions(IEnumerable<string> sources)
    {
        var regions = new Dictionary<string, string>();
        foreach (Match region in sources.SelectMany(static source => Region().Matches(source)))
        {
            int indentation = region.Groups["indentation"].Length;
            IEnumerable<string> lines = region.Groups["code"].Value.Split('\n')
                .Select(line => line.Length > indentation ? line[indentation..] : line.TrimStart());
            regions.Add(region.Groups["name"].Value, string.Join('\n', lines).Trim('\n'));
        }

        return regions;
    }

    [GeneratedRegex(@"^<!-- example: (?<name>[^\n]+?) -->\n```csharp\n(?<code>.*?)^```$", RegexOptions.Multiline | RegexOptions.Singleline)]
    private static partial Regex Example();

    [GeneratedRegex("^```csharp", RegexOptions.Multiline)]
    private static partial Regex Block();

    [GeneratedRegex(@"^(?<indentation> *)#region (?<name>[^\n]+)\n(?<code>.*?)^ *#endregion",
        RegexOptions.Multiline | RegexOptions.Singleline)]
    private static partial Regex Region();
}
