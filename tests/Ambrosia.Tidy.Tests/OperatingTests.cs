using System.Text.RegularExpressions;

namespace Ambrosia.Tidy.Tests;

/// <summary>docs/operating.md tells of every exit code, every option about links, and of every line that a coordinator may write.</summary>
public sealed partial class OperatingTests
{
    private const string Document = "docs/operating.md";
    private const string ExitCodesPath = "ImmortalCoordinator/Ambrosia.Coordinator/ExitCodes.cs";

    [Fact]
    public void ExitCodes_All_AreExplained()
    {
        string[] codes = [.. Constant().Matches(Constants().Match(Repository.Read(ExitCodesPath)).Value).Select(static code => code.Groups["code"].Value)];
        Assert.True(codes.Length >= 6, "the exit codes were not found");
        Repository.AssertNone(FindMissing(codes, static code => $"| {code} |"));
    }

    [Fact]
    public void Lines_OfACoordinator_AreExplainedByTheirFirstWord()
    {
        string[] words = [.. Repository.Sources.Where(static source => source.Path.StartsWith("ImmortalCoordinator/", StringComparison.Ordinal) || source.Path.StartsWith("CRA/", StringComparison.Ordinal))
            .SelectMany(static source => FirstWords(source.Text)).Distinct()];
        Assert.True(words.Length >= 10, "the lines were not found");
        Repository.AssertNone(FindMissing(words, static word => $"`{word}"));
    }

    [Fact]
    public void Planted_LineAndCode_AreFound()
    {
        Assert.Equal(["stopping", "link"], FirstWords("Say(\"stopping\"); lines.Say($\"link {name}: x\"); say($\"{why}\");"));
        Assert.Single(FindMissing(["99"], static code => $"| {code} |"));
    }

    private static IEnumerable<string> FindMissing(IEnumerable<string> all, Func<string, string> written) =>
        all.Where(one => !Repository.Read(Document).Contains(written(one), StringComparison.Ordinal)).Select(one => $"{Document}: does not tell of {one}");

    /// <summary>Lines that begin with a value (a peer's name, a file) have no word of their own.</summary>
    private static IEnumerable<string> FirstWords(string text) => Line().Matches(text).Select(static line => line.Groups["word"].Value);

    [GeneratedRegex(@"const int [^;]*;")]
    private static partial Regex Constants();

    [GeneratedRegex(@"= (?<code>\d+)")]
    private static partial Regex Constant();

    [GeneratedRegex(@"\b[Ss]ay\(\$?""(?<word>[A-Za-z]+)")]
    private static partial Regex Line();
}
