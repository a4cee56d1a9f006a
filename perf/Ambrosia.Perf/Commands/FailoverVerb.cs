using System.CommandLine;

namespace Ambrosia.Perf;

/// <summary><c>failover</c> on the command line.</summary>
internal sealed class FailoverVerb(string[] args)
{
    private readonly Option<int> _size = Options.MessageBytes("16");
    private readonly Option<int> _messages = Options.Number("--messages",
        "Messages of a round, in whose middle the primary is killed.", 5_000_000);
    private readonly Option<int> _kills = Options.Number("--n", "Kills.", 10);

    public Command Command => new Measurement("failover", args).Build(
        "Two replicas of the receiver; kill -9 of the primary in the middle of a round: until the other one is primary, and the round's totals.",
        Measure, _size, _messages, _kills);

    private Outcome Measure(ParseResult parsed, ClusterOptions cluster) =>
        OutcomeOf(new FailoverCommand(cluster).Run(parsed.GetValue(_size), parsed.GetValue(_messages), parsed.GetValue(_kills)), cluster);

    public static Outcome OutcomeOf(FailoverResult found, ClusterOptions cluster) => new(found, cluster.Durability, () => Report.Show(
        ["kills", "primary ms (median)", "primary ms (max)", "last message ms (median)"],
        [[$"{found.Kills.Count}", Report.Number(found.PrimaryMsMedian, "F0"), Report.Number(found.PrimaryMsMax, "F0"),
            Report.Number(found.DoneMsMedian, "F0")]]));
}
