using System.CommandLine;
using Ambrosia.Stores.Azure;
using CRA.Catalog;

namespace Ambrosia.Perf;

/// <summary><c>catalog</c> on the command line.</summary>
internal sealed class CatalogVerb(string[] args)
{
    public const string Durability = "a catalog alone, without coordinator: what a store promises of what it has acknowledged is its own business";

    private readonly Option<int> _calls = Options.Number("--n", "Calls of each kind.", 500);
    private readonly Option<int> _instances = Options.Number("--instances", "Instances in the catalog.", 100);
    private readonly Option<string?> _place = new("--place")
    {
        Description = "Where the catalog is, as --catalog of a coordinator; default: a directory beside the logs.", HelpName = "PLACE"
    };

    public Command Command => new Measurement("catalog", args).Build(
        "A catalog in a directory, etcd or Azure tables: publishing an entry that has changed or not, finding one, and listing the epochs of all.",
        Measure, _calls, _instances, Checked(_place));

    private static Option<string?> Checked(Option<string?> place)
    {
        place.Validators.Add(static result =>
        {
            if (result.Tokens is [var given] && CatalogPlace.TryParse(given.Value, out string wrong) is null) result.AddError(wrong);
        });
        return place;
    }

    private Outcome Measure(ParseResult parsed, ClusterOptions cluster)
    {
        AzureTables.Use();
        CatalogPlace place = CatalogPlace.Parse(parsed.GetValue(_place) ?? Path.Combine(cluster.Directory, "catalog"));
        CatalogResult found = new CatalogCommand(place, parsed.GetValue(_instances)).Run(parsed.GetValue(_calls));
        return new Outcome(found, Durability, () => Report.Show(
            ["call", "calls", "p50 ms", "p90 ms", "p99 ms", "max ms"],
            new[] { ("publish", found.Publish), ("publish again", found.Again), ("find", found.Find),
                ("epochs", found.Epochs) }.Select(static row => new[]
            {
                row.Item1, $"{row.Item2.Count}", Ms(row.Item2.P50), Ms(row.Item2.P90), Ms(row.Item2.P99), Ms(row.Item2.Max),
            })));
    }

    private static string Ms(double microseconds) => Report.Number(microseconds / 1000, "F2");
}
