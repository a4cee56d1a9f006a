using System.Text.Json.Nodes;

namespace Ambrosia.Tidy.Tests.Documents;

/// <summary>
/// The list of planted bugs stays in step with the code that it patches and with the document that says what finds each: a mutant that can
/// no longer be planted would be taken for one that is caught.
/// </summary>
public sealed class MutantTests
{
    private const string List = "tests/mutants/mutants.json", Document = "docs/testing.md";
    private const int MutantsMin = 30, FaultsToPlant = 12;

    /// <summary>One bug that can be planted.</summary>
    /// <param name="Fault">The number of the fault that was found and mended before; null when it is another.</param>
    private sealed record Mutant(string Id, int? Fault, IReadOnlyList<Edit> Edits);

    /// <summary>A stretch of one file that the mutant replaces.</summary>
    private sealed record Edit(string File, string Old, string New);

    [Fact]
    public void Mutants_All_CanBePlantedAndAreInTheTable() => Repository.AssertNone(FindFaults(Parse(Repository.Read(List)),
        static path => Repository.Has(path) ? Repository.Read(path) : "", Repository.Read(Document)));

    [Fact]
    public void Mutants_OfTheList_AreThirtyWithTheFaultsThatWereFound()
    {
        Mutant[] mutants = Parse(Repository.Read(List));
        Assert.True(mutants.Length >= MutantsMin, $"{mutants.Length} mutants, {MutantsMin} at least");
        Assert.Equal(Enumerable.Range(1, FaultsToPlant), mutants.Select(static mutant => mutant.Fault).OfType<int>().Distinct().Order());
    }

    [Fact]
    public void Mutants_PlantedFaults_AreFound()
    {
        const string Table = "| `a` | x |\n";
        Assert.Empty(FindFaults([Planted("a", "x = 1;", "x = 2;")], static _ => "x = 1;", Table));
        Assert.Single(FindFaults([Planted("a", "x = 1;", "x = 2;")], static _ => "x = 3;", Table));
        Assert.Single(FindFaults([Planted("a", "x", "y")], static _ => "x = x;", Table));
        Assert.Single(FindFaults([Planted("a", "x", "x")], static _ => "x", Table));
        Assert.Single(FindFaults([Planted("b", "x", "y")], static _ => "x", Table));
        Assert.Single(FindFaults([Planted("a", "x", "y"), Planted("a", "x", "z")], static _ => "x", Table));
        Assert.Single(FindFaults([new Mutant("a", null, [])], static _ => "x", Table));
    }

    private static Mutant Planted(string id, string old, string replacement) => new(id, null, [new Edit("A.cs", old, replacement)]);

    private static IEnumerable<Finding> FindFaults(IReadOnlyList<Mutant> mutants, Func<string, string> read, string document)
    {
        foreach (IGrouping<string, Mutant> same in mutants.GroupBy(static mutant => mutant.Id).Where(static same => same.Count() > 1))
            yield return new Finding(List, $"{same.Count()} mutants are called {same.Key}");
        foreach (Mutant mutant in mutants)
        {
            if (!document.Contains($"| `{mutant.Id}` |", StringComparison.Ordinal))
                yield return new Finding(Document, $"does not say what finds the mutant {mutant.Id}");
            if (mutant.Edits.Count == 0) yield return new Finding(List, $"{mutant.Id} plants nothing");
            foreach (Edit edit in mutant.Edits)
            {
                int found = read(edit.File).Split(edit.Old).Length - 1;
                if (found != 1) yield return new Finding(edit.File, $"holds the text that {mutant.Id} replaces {found} times, not once");
                if (edit.Old == edit.New) yield return new Finding(List, $"{mutant.Id} changes nothing in {edit.File}");
            }
        }
    }

    private static Mutant[] Parse(string text) =>
        [.. JsonNode.Parse(text)!.AsArray().Select(static one => new Mutant((string)one!["id"]!, (int?)one["fault"],
            [.. one["edits"]!.AsArray().Select(static edit => new Edit((string)edit!["file"]!, (string)edit["old"]!, (string)edit["new"]!))]))];
}
