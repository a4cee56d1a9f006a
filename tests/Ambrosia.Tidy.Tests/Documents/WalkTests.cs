using System.Globalization;
using System.Text.RegularExpressions;

namespace Ambrosia.Tidy.Tests.Documents;

/// <summary>
/// Walks through the code, from where something begins to where it ends: each names at most twelve files, in the order in which they are
/// read. They exist, and what is named in them exists: <c>Type.Member</c> in a row occurs in the row's file. A source that says which step
/// of a call it is says the number of its row.
/// </summary>
public sealed partial class WalkTests
{
    private const string Folder = "docs/walks";
    private const string CallWalk = "call.md";
    private const int RowsMax = 12;

    private static readonly string[] s_walks = ["awaited-call.md", CallWalk, "checkpoint.md", "impulse.md", "nondet-task.md", "take-over.md"];

    [Fact]
    public void Walks_All_AreThere() => Repository.AssertNone(s_walks.Select(static name => $"{Folder}/{name}")
        .Where(static path => !Repository.Has(path)).Select(static path => new Finding(path, "is missing")));

    [Fact]
    public void Walks_All_NameWhatExists() => Repository.AssertNone(
        s_walks.Select(static name => $"{Folder}/{name}").Where(Repository.Has)
            .SelectMany(static path => FindFaults(path, Repository.Read(path), ReadIfThere)));

    [Fact]
    public void Steps_OfACall_AreTheRowsOfItsWalk() => Repository.AssertNone(
        FindMiscounted(Repository.Read($"{Folder}/{CallWalk}"), Repository.Product));

    [Fact]
    public void Steps_PlantedFaults_AreFound()
    {
        const string Walk = "| 1 | `A.cs` | |\n| 2 | `B.cs` | |\n";
        Assert.Empty(FindMiscounted(Walk, [new("A.cs", "// Step 1 of a call: it is made."), new("B.cs", "// behind step 1 of a call")]));
        Assert.Equal(["A.cs: says that it is step 2 of a call, which is B.cs", "B.cs: says that it is step 3 of a call, which is nothing"],
            FindMiscounted(Walk, [new("A.cs", "// Step 2 of a call"), new("B.cs", "// Step 3 of a call")])
                .Select(static found => found.ToString()));
    }

    [Fact]
    public void Walks_PlantedFaults_AreFound()
    {
        Assert.Equal(
            ["a.md: row 2 is numbered 3", "a.md: row 2: there is no None.cs", "a.md: row 3: A.cs has no Stop"],
            Faults("| # | File | |\n|---|---|---|\n| 1 | `A.cs` | `Page.Start` begins |\n| 3 | `None.cs` | |\n| 3 | `A.cs` | `Page.Stop(x)` |\n"));
        Assert.Equal(["a.md: 13 files, 12 at most"],
            Faults(string.Concat(Enumerable.Range(1, 13).Select(static row => $"| {row} | `A.cs` | `App.config` |\n"))));
        Assert.Equal(["a.md: names no file"], Faults("text\n"));
        Assert.Empty(Faults("| 1 | `A.cs` | `Page.Start` calls `System.IO.Pipelines` and `x` |\n"));
    }

    private static IEnumerable<string> Faults(string text) =>
        FindFaults("a.md", text, static path => path == "A.cs" ? "void Start() { } config" : null).Select(static found => found.ToString());

    private static IEnumerable<Finding> FindMiscounted(string walk, IEnumerable<SourceFile> sources)
    {
        string[] steps = [.. Row().Matches(walk).Select(static row => row.Groups["path"].Value)];
        return from source in sources
               from Match step in Step().Matches(source.Text)
               let number = int.Parse(step.Groups["number"].Value, CultureInfo.InvariantCulture)
               let file = number <= steps.Length ? steps[number - 1] : "nothing"
               where file != source.Path
               select new Finding(source.Path, $"says that it is step {number} of a call, which is {file}");
    }

    private static string? ReadIfThere(string path) => File.Exists(Path.Join(Repository.Root, path)) ? Repository.Read(path) : null;

    private static IEnumerable<Finding> FindFaults(string path, string text, Func<string, string?> read)
    {
        Match[] rows = [.. Row().Matches(text).Cast<Match>()];
        if (rows.Length == 0) yield return new Finding(path, "names no file");
        if (rows.Length > RowsMax) yield return new Finding(path, $"{rows.Length} files, {RowsMax} at most");
        for (int i = 0; i < rows.Length; i++)
        {
            string number = rows[i].Groups["number"].Value, file = rows[i].Groups["path"].Value;
            if (number != (i + 1).ToString(CultureInfo.InvariantCulture)) yield return new Finding(path, $"row {i + 1} is numbered {number}");
            if (read(file) is not { } source)
            {
                yield return new Finding(path, $"row {i + 1}: there is no {file}");
                continue;
            }

            foreach (Match member in Member().Matches(rows[i].Groups["text"].Value).Cast<Match>())
            {
                string name = member.Groups["member"].Value;
                if (!Regex.IsMatch(source, $@"\b{name}\b")) yield return new Finding(path, $"row {i + 1}: {file} has no {name}");
            }
        }
    }

    [GeneratedRegex(@"^\|\s*(?<number>\d+)\s*\|\s*`(?<path>[^`]+)`\s*\|(?<text>.*)$", RegexOptions.Multiline)]
    private static partial Regex Row();

    [GeneratedRegex(@"\bStep (?<number>\d+) of a call\b")]
    private static partial Regex Step();

    [GeneratedRegex(@"`[A-Z]\w*(?:<\w+>)?\.(?<member>[A-Z]\w*)(?:<\w+>)?(?:\([^`]*\))?`")]
    private static partial Regex Member();
}
