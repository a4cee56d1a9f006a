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
        string[] codes = [
            .. Constant().Matches(Constants().Match(Repository.Read(ExitCodesPath)).Value)
                .Select(static code => code.Groups["code"].Value)];
        Assert.True(codes.Length >= 6, "the exit codes were not found");
        Repository.AssertNone(FindMissing(codes, static code => $"| {code} |"));
    }

    /// <summary>Where a line is not said in words: from whom it comes, and how the document quotes it.</summary>
    private static readonly Dictionary<(string File, string Said), string> passedOn = new()
    {
        [("AppPump.cs", "line")] = "`app channel:`",
        [("AppPump.cs", "truncated.Message")] = "`the log at`",
        [("CoordinatorHost.cs", "cut.ToString()")] = "`torn tail`",
        [("CoordinatorHost.cs", "line")] = "Each begins with one of these words", // whatever a part says
        [("LinkPump.cs", "failure!.Value.Line")] = "is not in the catalog: calls to it are kept until it appears",
        [("OutputWait.cs", "Line()")] = "`outputs wait`",
        [("Retention.cs", "line")] = "is held by a reader: it and what follows stay until it is released",
    };

    [Fact]
    public void Lines_OfACoordinator_AreExplainedByTheirFirstWord()
    {
        (string File,
            string Said)[] said = [
                .. Repository.Sources.Where(
                    static source => source.Path.StartsWith("ImmortalCoordinator/", StringComparison.Ordinal)
                        || source.Path.StartsWith("CRA/", StringComparison.Ordinal))
                    .SelectMany(static source => SaidLines.In(source.Syntax).Select(said => (Path.GetFileName(source.Path), said)))
                    .Distinct()];
        Assert.True(said.Length >= 40, "the lines were not found");
        Repository.AssertNone(FindMissing(said.Select(static one => Quoted(one.File, one.Said)).Distinct(), static quote => quote));
        Repository.AssertNone(
            passedOn.Keys.Except(said).Select(static one => $"{one.File} does not say {one.Said}: take it out of this list"));
    }

    [Fact]
    public void Planted_LineAndCode_AreFound()
    {
        Assert.Equal(["\"stopping\"", "$\"link {name}: x\"", "$\"{why}\"", "\"wait: \"", "Line()"], SaidLines.In(
            "Say(\"stopping\"); lines.Say($\"link {name}: x\"); say($\"{why}\"); void Say(string line); say(isOver ? \"wait: \" : Line()); lines.Say(peer, \"a\");"));
        Assert.Equal("`stopping", Quoted("X.cs", "\"stopping\""));
        Assert.Equal("`THE", Quoted("X.cs", "$\"THE LOG of {x}\""));
        Assert.Contains("X.cs says what", Quoted("X.cs", "what()"), StringComparison.Ordinal);
        Assert.Single(FindMissing([Quoted("X.cs", "what()")], static quote => quote));
        Assert.Single(FindMissing(["99"], static code => $"| {code} |"));
    }

    /// <summary>
    /// What the document must have: the line's first word as a quotation. A line that begins with a value (a peer's name, a
    /// file) is in the list above.
    /// </summary>
    private static string Quoted(string file, string said) => passedOn.TryGetValue((file, said), out string? quote) ? quote
        : FirstWord().Match(said) is { Success: true } match ? $"`{match.Groups["word"].Value}"
        : $"{file} says {said}: where does it come from?";

    private static IEnumerable<string> FindMissing(IEnumerable<string> all, Func<string, string> written) =>
        all.Where(one => !Repository.Read(Document).Contains(written(one), StringComparison.Ordinal))
            .Select(one => $"{Document}: does not tell of {one}");

    [GeneratedRegex(@"const int [^;]*;")]
    private static partial Regex Constants();

    [GeneratedRegex(@"= (?<code>\d+)")]
    private static partial Regex Constant();

    [GeneratedRegex(@"^\$?""(?<word>[A-Za-z]+)")]
    private static partial Regex FirstWord();
}
