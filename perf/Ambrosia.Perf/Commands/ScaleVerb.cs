using System.CommandLine;

namespace Ambrosia.Perf;

/// <summary><c>scale</c> on the command line.</summary>
internal sealed class ScaleVerb(string[] args)
{
    private readonly Option<IReadOnlyList<int>> _peers = Options.Counts("--peers", "Senders with one receiver.", "1,4,16,64", 256);
    private readonly Option<IReadOnlyList<int>> _destinations = Options.Counts("--destinations", "Receivers with one sender.",
        "1,4,16,64", 256);
    private readonly Option<int> _turn = Options.Number("--turn", "Messages to one destination before the next has its turn.", 256);
    private readonly Option<IReadOnlyList<int>> _immortals = Options.Counts("--immortals",
        "Instances, half of them senders with a receiver each.", "2,4,8", 256);
    private readonly Option<int> _size = Options.MessageBytes("16");
    private readonly Option<int> _messages = Options.Number("--messages", "Messages of a round, of all together.", 10_000_000);
    private readonly Option<int> _rounds = Options.Number("--rounds", "Rounds of each number.", 5);
    private readonly Option<int> _warmUp = Options.Number("--warm-up",
        "Seconds after which rounds count although the processes of many still compile what is hot; what the hub compiles is told apart.",
        90, min: 0);
    private readonly Option<int> _killed = Options.Number("--killed", "Rounds behind them in whose middle every process is killed.",
        1, min: 0);

    public Command Command => new Measurement("scale", args).Build(
        "The same number of messages from more and more peers, to more and more, and from more and more pairs of instances at once.",
        Measure, _peers, _destinations, _turn, _immortals, _size, _messages, _rounds, _warmUp, _killed);

    private Outcome Measure(ParseResult parsed, ClusterOptions cluster) =>
        OutcomeOf(new ScaleCommand(cluster) { WarmUpMax = TimeSpan.FromSeconds(parsed.GetValue(_warmUp)) }.Run(
            parsed.GetRequiredValue(_peers), parsed.GetRequiredValue(_destinations), parsed.GetRequiredValue(_immortals),
            parsed.GetValue(_size), parsed.GetValue(_messages), parsed.GetValue(_rounds), parsed.GetValue(_turn), parsed.GetValue(_killed)),
            cluster);

    public static Outcome OutcomeOf(ScaleResult found, ClusterOptions cluster) => new(found, cluster.Durability, () => Report.Show(
        ["", "number", "messages/s", "CPU s/million", "rate ÷ first", "CPU ÷ first", "hub CPU s/million", "÷ first", "its coordinator",
            "÷ first", "waits/million", "hub MiB", "killed, same totals"],
        found.Points.Select(point => new[]
        {
            point.Kind, $"{point.Count}", Report.Number(point.MessagesPerSecond, "N0"), Report.Number(point.CpuSecondsPerMillion, "F3"),
            Report.Number(found.RateRatio(point), "F2"), Report.Number(found.CostRatio(point), "F2"),
            Report.Number(point.HubCpuSecondsPerMillion, "F3"), Report.Number(found.HubCostRatio(point), "F2"),
            Report.Number(point.HubCoordinatorCpuSecondsPerMillion, "F3"), Report.Number(found.HubCoordinatorCostRatio(point), "F2"),
            Report.Number(point.HubWaitsPerMillion, "N0"), Report.Number(point.HubBytes / 1048576.0, "F1"), $"{point.Killed.Count}",
        })));
}
