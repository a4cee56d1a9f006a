using System.Text.RegularExpressions;

namespace Ambrosia.Tidy.Tests.Documents;

/// <summary>
/// The indexes of records and invariants (docs/records.md, docs/invariants.md) against the code: every kind has its row, each type that a
/// row names mentions the kind, and each check that a row quotes stands in its file.
/// </summary>
public sealed partial class IndexTests
{
    private const string Records = "docs/records.md";
    private const string Invariants = "docs/invariants.md";

    [Fact]
    public void Records_EachKind_IsHandledWhereItsRowSays()
    {
        string kinds = Repository.Read("protocol/Ambrosia.Protocol/Records/RecordKinds.cs");
        string declared = kinds[kinds.IndexOf("enum RecordKind", StringComparison.Ordinal)..];
        declared = declared[..declared.IndexOf('}', StringComparison.Ordinal)];
        Repository.AssertNone(FindRecordFaults(Repository.Read(Records), declared, SourceOf));
    }

    [Fact]
    public void Invariants_EachCheck_StandsInItsFile() => Repository.AssertNone(
        FindInvariantFaults(Repository.Read(Invariants), static path => Repository.Has(path) ? Repository.Read(path) : null));

    [Fact]
    public void Planted_Differences_AreFound()
    {
        static string? Source(string type) => type == "Writer" ? "RecordKind.Run" : null;
        Assert.Empty(FindRecordFaults("| 1 | Run | `Writer` | – | – |\n", "Run = 1,", Source));
        Assert.Equal(
            ["docs/records.md: Trim = 5 has no row", "docs/records.md: Run: there is no type Gone",
                "docs/records.md: Peer: Writer does not mention it", "docs/records.md: Peer = 4 is not declared"],
            FindRecordFaults("| 1 | Run | `Gone` | – | – |\n| 4 | Peer | `Writer` | – | – |\n", "Run = 1, Trim = 5,", Source)
                .Select(static found => found.ToString()));
        Assert.Equal(["docs/invariants.md: I1: A.cs does not say \"x\"", "docs/invariants.md: row 2 is I3"],
            FindInvariantFaults("| I1 | a | `A.cs` | `x` |\n| I3 | b | `A.cs` | `y` |\n", static _ => "y")
                .Select(static found => found.ToString()));
    }

    private static string? SourceOf(string type)
    {
        string[] texts = [.. Repository.Product.Where(source => Path.GetFileNameWithoutExtension(source.Path) == type)
            .Select(static source => source.Text)];
        return texts.Length == 0 ? null : string.Concat(texts);
    }

    private static IEnumerable<Finding> FindRecordFaults(string document, string declared, Func<string, string?> sourceOf)
    {
        Match[] rows = [.. RecordRow().Matches(document).Cast<Match>()];
        string[] listed = [.. rows.Select(static row => $"{row.Groups["kind"].Value} = {row.Groups["number"].Value}")];
        string[] kinds = [.. Kind().Matches(declared).Select(static kind => kind.Value)];
        foreach (string kind in kinds.Except(listed)) yield return new Finding(Records, $"{kind} has no row");
        foreach (Match row in rows)
        {
            string kind = row.Groups["kind"].Value;
            foreach (string type in Code().Matches(row.Groups["who"].Value).Select(static type => type.Groups[1].Value))
            {
                if (sourceOf(type) is not { } source) yield return new Finding(Records, $"{kind}: there is no type {type}");
                else if (!Regex.IsMatch(source, $@"RecordKind\.{kind}\b|\b{kind}Record\b"))
                    yield return new Finding(Records, $"{kind}: {type} does not mention it");
            }
        }

        foreach (string kind in listed.Except(kinds)) yield return new Finding(Records, $"{kind} is not declared");
    }

    private static IEnumerable<Finding> FindInvariantFaults(string document, Func<string, string?> read)
    {
        int number = 0;
        foreach (Match row in InvariantRow().Matches(document).Cast<Match>())
        {
            string name = row.Groups["name"].Value;
            if (name != $"I{++number}") yield return new Finding(Invariants, $"row {number} is {name}");
            string text = row.Groups["check"].Value;
            string[] files = [.. Code().Matches(row.Groups["where"].Value).Select(static file => file.Groups[1].Value)];
            if (!files.Any(file => read(file)?.Contains(text, StringComparison.Ordinal) == true))
                yield return new Finding(Invariants, $"{name}: {string.Join(", ", files)} does not say \"{text}\"");
        }
    }

    [GeneratedRegex(@"^\| (?<number>\d+) \| (?<kind>\w+) \|(?<who>.*)\|$", RegexOptions.Multiline)]
    private static partial Regex RecordRow();

    [GeneratedRegex(@"^\| (?<name>I\d+) \|[^|]*\|(?<where>[^|]*)\| `(?<check>[^`]+)` \|$", RegexOptions.Multiline)]
    private static partial Regex InvariantRow();

    [GeneratedRegex(@"\b\w+ = \d+")]
    private static partial Regex Kind();

    [GeneratedRegex("`([^`]+)`")]
    private static partial Regex Code();
}
