using System.CommandLine;

namespace Ambrosia.Perf;

/// <summary><c>upgrade</c> on the command line.</summary>
internal sealed class UpgradeVerb(string[] args)
{
    private readonly Option<int> _rounds = Options.Number("--n", "Upgrades of each kind, in turn.", 5);
    private readonly Option<long> _state = Options.Size("--state", "Bytes of the server's state, at most 1G.", "1M");
    private readonly Option<int> _rate = Options.Number("--rate", "Calls a second.", 1000);

    public Command Command => new Measurement("upgrade", args).Build(
        "A new version of a server comes into force while a caller asks at fixed moments: under the running primary, and by a replica that takes over.",
        Measure, _rounds, _state, _rate);

    private Outcome Measure(ParseResult parsed, ClusterOptions cluster)
    {
        UpgradeResult found = new UpgradeCommand(cluster).Run(
            parsed.GetValue(_rounds), (int)Math.Min(parsed.GetValue(_state), 1L << 30), parsed.GetValue(_rate));
        return new Outcome(found, cluster.Durability, () => Report.Show(
            ["upgrades", "longest gap in place ms (median)", "by a replica ms (median)", "ratio (median of pairs)"],
            [[$"{found.InPlace.Count}", Report.Number(found.InPlaceMsMedian, "F0"), Report.Number(found.ByReplicaMsMedian, "F0"),
                Report.Number(found.Ratio, "F2")]]));
    }
}
