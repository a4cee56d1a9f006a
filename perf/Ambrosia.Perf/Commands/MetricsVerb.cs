using System.CommandLine;

namespace Ambrosia.Perf;

/// <summary><c>metrics</c> on the command line.</summary>
internal sealed class MetricsVerb(string[] args)
{
    private static readonly TimeSpan s_everyUsual = TimeSpan.FromSeconds(1), s_warmUp = TimeSpan.FromSeconds(5);

    private readonly Option<int> _size = Options.MessageBytes("16");
    private readonly Option<int> _messages = Options.Number(
        "--messages", "Messages of a round, which must last longer than --collect.", 60_000_000);
    private readonly Option<int> _pairs = Options.Number("--n", "Pairs of rounds.", 30);
    private readonly Option<TimeSpan?> _every = Options.Interval("--collect", "The time between two collections of a meter. Default: 1s.");

    public Command Command => new Measurement("metrics", args).Build(
        "A stream between two hosts whose meters are collected in every second round, in turn with the same without a listener.",
        Measure, _size, _messages, _pairs, _every);

    private Outcome Measure(ParseResult parsed, ClusterOptions cluster)
    {
        SizeResult found = new MetricsCommand(cluster).Run(
            parsed.GetValue(_size), parsed.GetValue(_messages), parsed.GetValue(_pairs), parsed.GetValue(_every) ?? s_everyUsual, s_warmUp);
        return new Outcome(new[] { found }, cluster.Durability, () => Report.Show([found]));
    }
}
