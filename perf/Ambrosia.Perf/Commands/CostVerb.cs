using System.CommandLine;

namespace Ambrosia.Perf;

/// <summary><c>cost</c> on the command line.</summary>
internal sealed class CostVerb(string[] args)
{
    private readonly Option<IReadOnlyList<int>> _sizes = Options.SizeList("--sizes", "Bytes of a message:", "65536..16");
    private readonly Option<long> _bytes = Options.Size("--bytes", "Bytes of a round.", "256M");
    private readonly Option<int> _messagesMax = Options.Number("--messages-max", "Messages of a round at most.", 20_000_000);
    private readonly Option<int> _rounds = Options.Number("--rounds", "Rounds that count; their median is reported.", 5);
    private readonly Option<IReadOnlyList<string>> _rivals = RivalNames.Option();

    public Command Command => new Measurement("cost", args).Build(
        "Processor seconds and log bytes of a million messages, and what a month of 1 MB/s of them costs by the paper's prices (Figure 8).",
        Measure, _sizes, _bytes, _messagesMax, _rounds, _rivals);

    private Outcome Measure(ParseResult parsed, ClusterOptions cluster)
    {
        var options = new StreamOptions(parsed.GetRequiredValue(_sizes), parsed.GetValue(_bytes), parsed.GetValue(_messagesMax),
            parsed.GetValue(_rounds), Killed: 0) { WarmUpTime = StreamOptions.WarmUpUsual };
        return OutcomeOf(
            new StreamCommand(cluster, StreamPlan.OneWay, Rival.StreamLegs(parsed.GetRequiredValue(_rivals), cluster, StreamPlan.OneWay))
                .Run(options), cluster);
    }

    public static Outcome OutcomeOf(IReadOnlyList<SizeResult> measured, ClusterOptions cluster)
    {
        IReadOnlyList<Cost> found = Cost.Of(measured);
        var chart = new Chart("-cost", "Price of messages by size", "bytes of a message", "$ a month for 1 MB/s",
            [.. found.GroupBy(static each => each.Leg)
                .Select(static leg => new ChartLine(leg.Key, [.. leg.Select(static each => ((double)each.Bytes, each.DollarsPerMonth))]))]);
        return new Outcome(found, cluster.Durability, () => Report.Show(
            ["bytes", "leg", "CPU s/million", "log MB/million", "$ a month for 1 MB/s"],
            found.Select(static each => new[]
            {
                $"{each.Bytes}", each.Leg, Report.Number(each.CpuSecondsPerMillion, "F3"), Report.Number(each.LogMegabytesPerMillion, "F1"),
                Report.Number(each.DollarsPerMonth, "F3"),
            })))
        { Charts = [chart] };
    }
}
