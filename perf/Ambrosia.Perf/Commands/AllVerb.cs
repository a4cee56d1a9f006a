// Everything that the table of perf/README.md says, in one run: bounded in count, and so in time.
using System.CommandLine;

namespace Ambrosia.Perf;

/// <summary><c>all</c> on the command line.</summary>
internal sealed class AllVerb(string[] args)
{
    /// <summary>Commands that measure; cost is taken from what stream found.</summary>
    private const int Measured = 6;

    private readonly Option<bool> _quick = new("--quick")
    {
        Description = "A tenth of the work: to see that everything runs, not for figures."
    };
    private readonly Option<IReadOnlyList<string>> _rivals = RivalNames.Option();

    public Command Command => new Measurement("all", args).Build(
        "stream, ping, recover, failover, checkpoint, scale and cost, one after the other; about 20 minutes on two cores with all rivals.",
        Measure, _quick, _rivals);

    private Outcome Measure(ParseResult parsed, ClusterOptions cluster)
    {
        int part = parsed.GetValue(_quick) ? 10 : 1, rounds = parsed.GetValue(_quick) ? 1 : 7;
        IReadOnlyList<string> named = parsed.GetRequiredValue(_rivals);
        var found = new Dictionary<string, Outcome>();
        Add("stream", own =>
        {
            var options = new StreamOptions(Sizes.TryParseList("65536..16")!, (256 << 20) / part, 20_000_000 / part, rounds,
                Killed: part == 1 ? 3 : 1) { WarmUpTime = StreamOptions.WarmUpUsual / part };
            IReadOnlyList<SizeResult> measured = new StreamCommand(own, StreamPlan.OneWay, Rival.StreamLegs(named, own, StreamPlan.OneWay))
                .Run(options);
            found.Add("cost", CostVerb.OutcomeOf(measured, own));
            return StreamVerb.OutcomeOf(measured, own);
        });
        Add("ping", own =>
        {
            var options = new PingOptions(10_000 / part, rounds) { Killed = part == 1 ? 3 : 1 };
            return PingVerb.OutcomeOf(
                new PingCommand(own, Rival.PingLegs(named, own), Rival.CrowdLegs(named, own, options.Outstanding)).Run(options), own);
        });
        Add("recover", own => RecoverVerb.OutcomeOf(new RecoverCommand(own).Run(new RecoverOptions(16, 5_000_000 / part, rounds)), own));
        Add("failover", own => FailoverVerb.OutcomeOf(new FailoverCommand(own).Run(16, 5_000_000 / part, rounds), own));
        Add("checkpoint", own => CheckpointVerb.OutcomeOf(
            new CheckpointCommand(own)
                .Run(part == 1 ? [1L << 20, 64L << 20, 1L << 30] : [1L << 20, 16L << 20], 256, 1_000_000 / part, Math.Min(rounds, 5)),
                own));
        Add("scale", own => ScaleVerb.OutcomeOf(
            new ScaleCommand(own)
                .Run(part == 1 ? [1, 4, 16, 64] : [1, 2], part == 1 ? [1, 4, 16, 64] : [1, 2], part == 1 ? [2, 4, 8] : [2, 4], 16,
                    10_000_000 / part, Math.Min(rounds, 5), 256, killed: 1), own));
        return new Outcome(found.ToDictionary(static each => each.Key, static each => each.Value.Figures), cluster.Durability,
            () => Show(found))
        {
            Charts = [.. found.Values.SelectMany(static each => each.Charts)],
        };

        void Add(string name, Func<ClusterOptions, Outcome> measure)
        {
            cluster.Report(name);
            found.Add(name,
                measure(
                    cluster with
                    {
                        Directory = Path.Combine(cluster.Directory, name), Advance = part => cluster.Advance(part / Measured)
                    }));
        }
    }

    private static void Show(Dictionary<string, Outcome> found)
    {
        foreach ((string name, Outcome each) in found)
        {
            Console.WriteLine(name);
            each.Show();
        }
    }
}
