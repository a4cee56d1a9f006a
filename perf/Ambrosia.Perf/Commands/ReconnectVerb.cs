using System.CommandLine;

namespace Ambrosia.Perf;

/// <summary><c>reconnect</c> on the command line.</summary>
internal sealed class ReconnectVerb(string[] args)
{
    private readonly Option<int> _cuts = Options.Number("--n", "Cuts.", 300);
    private readonly Option<bool> _tls = new("--tls") { Description = "With certificates." };

    public Command Command => new Measurement("reconnect", args).Build(
        "A link through a relay that cuts it: from the cut to the handler of a message made right behind it, in turn with messages before which nothing is cut.",
        Measure, _cuts, _tls);

    private Outcome Measure(ParseResult parsed, ClusterOptions cluster)
    {
        if (parsed.GetValue(_tls)) cluster = LinkCertificates.Give(cluster);
        ReconnectResult found = new ReconnectCommand(cluster).Run(parsed.GetValue(_cuts));
        return new Outcome(found, cluster.Durability, () => Report.Show(
            ["", "messages", "p50 ms", "p90 ms", "p99 ms", "max ms"],
            new[] { ("uncut", found.Uncut), ("cut", found.Cut) }.Select(static row => new[]
            {
                row.Item1, $"{row.Item2.Count}", Ms(row.Item2.P50), Ms(row.Item2.P90), Ms(row.Item2.P99), Ms(row.Item2.Max),
            })));
    }

    private static string Ms(double microseconds) => Report.Number(microseconds / 1000, "F2");
}
