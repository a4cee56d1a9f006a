using System.Text.RegularExpressions;
using Ambrosia.Generators.Determinism;
using Ambrosia.Generators.Diagnostics;
using Ambrosia.Generators.Losses;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.Diagnostics;

namespace Ambrosia.Generators.Tests.Analyzers;

/// <summary>
/// Each rule has a page under docs/analyzers. Its bad code is reported at the lines that say so in a comment, by that rule alone, and its
/// good code is not reported.
/// </summary>
public sealed partial class PageTests
{
    /// <summary>The rules whose fault is not in code, but between two projects or in a setting of one. Other tests have them.</summary>
    private static readonly string[] s_ofProjects = ["AMB015", "AMB021"];

    public static TheoryData<string> Rules => [.. Pages.Keys.Where(static rule => !s_ofProjects.Contains(rule))];

    private static Dictionary<string, string> Pages { get; } = Directory.GetFiles(Path.Combine(AppContext.BaseDirectory, "analyzers"),
        "AMB*.md")
        .OrderBy(static path => path, StringComparer.Ordinal).ToDictionary(static path => Path.GetFileNameWithoutExtension(path),
            File.ReadAllText);

    [Theory]
    [MemberData(nameof(Rules))]
    public void Page_BadCode_IsReportedAtItsLines(string rule)
    {
        string code = CodeOf(rule, "bad");
        int[] marked = [.. code.Split('\n').Index().Where(line => line.Item.Contains($"// {rule}", StringComparison.Ordinal)).Select(
            static line => line.Index)];
        Assert.NotEmpty(marked);

        Generation generation = Generation.Of(code);
        Diagnostic[] found = [.. generation.Diagnostics, .. Analysis.Of(generation.Output)];

        Assert.All(found, each => Assert.Equal(rule, each.Id));
        Assert.Equal(marked, found.Select(each =>
            each.Location.GetLineSpan().StartLinePosition.Line - Generation.HeadLines).Distinct().Order());
    }

    [Theory]
    [MemberData(nameof(Rules))]
    public void Page_GoodCode_IsNotReported(string rule)
    {
        Generation generation = Generation.Of(CodeOf(rule, "good"));

        Assert.Empty(generation.Diagnostics);
        Assert.Empty(generation.Errors());
        Assert.Empty(Analysis.Of(generation.Output));
    }

    [Fact]
    public void Rules_AllHaveAPageAndTheRunTimeCheckBehindThem()
    {
        IEnumerable<string> rules = Analysis.All.SelectMany(static each => each.SupportedDiagnostics).Select(static rule => rule.Id)
            .Concat(DiagnosticRules.ById.Keys).Distinct().Order(StringComparer.Ordinal);

        Assert.Equal(rules, Pages.Keys);
        Assert.All(Pages.Values, static page => Assert.Contains("**At run time.**", page, StringComparison.Ordinal));
    }

    [Fact]
    public void Titles_OfPages_AreThoseOfTheRules() => Assert.All(
        Analysis.All.SelectMany(static each => each.SupportedDiagnostics).Concat(DiagnosticRules.ById.Values),
        static rule => Assert.StartsWith($"# {rule.Id}: {rule.Title}\n", Pages[rule.Id], StringComparison.Ordinal));

    private static string CodeOf(string rule, string kind)
    {
        Match block = Block().Matches(Pages[rule]).Single(match => match.Groups["kind"].Value == kind);
        return block.Groups["code"].Value;
    }

    [GeneratedRegex(@"^<!-- (?<kind>bad|good) -->\n```csharp\n(?<code>.*?)^```$", RegexOptions.Multiline | RegexOptions.Singleline)]
    private static partial Regex Block();
}
