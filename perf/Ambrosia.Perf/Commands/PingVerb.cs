using System.CommandLine;

namespace Ambrosia.Perf;

/// <summary><c>ping</c> on the command line.</summary>
internal sealed class PingVerb(string[] args)
{
    private readonly Option<int> _calls = Options.Number("--n",
        "Calls of a round, one after another; ten times as many with many at a time.", 10_000);
    private readonly Option<int> _rounds = Options.Number("--rounds", "Rounds that count; their median is reported.", 7);
    private readonly Option<int> _killed = Options.Number("--killed",
        "Rounds of many at a time behind them in whose middle server, client, or both are killed in turn.", 1, min: 0);
    private readonly Option<int> _outstanding = Options.Number("--outstanding", "Calls under way at a time in the second part.", 1_000);
    private readonly Option<int> _load = Options.Number("--load",
        "Rate of the third part, whose calls come at fixed moments, in percent of what that road carries at most.", 50);
    private readonly Option<IReadOnlyList<string>> _rivals = RivalNames.Option();

    public Command Command => new Measurement("ping", args).Build(
        "Awaited calls, both logs included: one after another, many at a time, and at fixed moments with each latency counted from the intended one.",
        Measure, _calls, _rounds, _killed, _outstanding, _load, _rivals);

    private Outcome Measure(ParseResult parsed, ClusterOptions cluster)
    {
        var options = new PingOptions(parsed.GetValue(_calls), parsed.GetValue(_rounds))
        {
            Outstanding = parsed.GetValue(_outstanding), Load = parsed.GetValue(_load) / 100.0, Killed = parsed.GetValue(_killed)
        };
        IReadOnlyList<string> named = parsed.GetRequiredValue(_rivals);
        PingResult found = new PingCommand(cluster, Rival.PingLegs(named, cluster), Rival.CrowdLegs(named, cluster, options.Outstanding))
            .Run(options);
        return OutcomeOf(found, cluster);
    }

    public static Outcome OutcomeOf(PingResult found, ClusterOptions cluster) => new(found, cluster.Durability, () => Report.Show(found));
}
