// Awaited calls three ways: one after another (the latency of one), many at a time (the rate), and at fixed moments at half that rate (the
// latency under load, counted from the moment at which the call was to be made, so that waiting is not left out).
namespace Ambrosia.Perf;

/// <summary>What <c>ping</c> does.</summary>
/// <param name="closed">Rivals that answer one call after another.</param>
/// <param name="crowd">Rivals with many calls under way.</param>
internal sealed class PingCommand(ClusterOptions cluster, IReadOnlyList<IPingLeg> closed, IReadOnlyList<IPingLeg> crowd)
{
    /// <summary>One at a time, many at a time, at fixed moments.</summary>
    private const int Parts = 3;

    /// <exception cref="FailedRoundException">A round's figures mean nothing.</exception>
    public PingResult Run(PingOptions options)
    {
        using var ours = new AmbrosiaPing(cluster);
        ours.Run(options.WarmUpCalls);
        List<PingLegResult> closedLegs = RunRounds("one at a time", options.Rounds,
            [(ours, () => ours.Run(options.Calls)), .. closed.Select(leg => Turn(leg, options.Calls))]);
        ours.RunCrowd(options.ManyCalls, options.Outstanding);
        List<PingLegResult> crowdLegs = RunRounds(
            $"{options.Outstanding} at a time", options.Rounds,
            [(ours, () => ours.RunCrowd(options.ManyCalls, options.Outstanding)), .. crowd.Select(leg => Turn(leg, options.ManyCalls))]);
        // An open loop's calls come from outside, so its full load is what that road carries: all calls asked for at once.
        ours.RunOpen(options.ManyCalls, double.PositiveInfinity);
        double perSecond = ours.RunOpen(options.ManyCalls, double.PositiveInfinity).CallsPerSecond * options.Load;
        PingLegResult open = RunRounds($"at {perSecond:N0} calls/s", options.Rounds,
            [(ours, () => ours.RunOpen(options.ManyCalls, perSecond))])[0];
        var killed = new List<KilledRound>();
        for (int i = 0; i < options.Killed; i++)
        {
            killed.Add(ours.RunKilled(options.ManyCalls, options.Outstanding, (KillTarget)(i % 3)));
            cluster.Report(
                $"{options.Outstanding} at a time, {killed[^1].Target} killed in the middle: each call answered, {killed[^1].SecondsAfterKill:F2} s after the kill");
        }
        return new PingResult(closedLegs, crowdLegs, open, perSecond) { Killed = killed };
    }

    private static (IPingLeg, Func<PingRound>) Turn(IPingLeg leg, int calls) => (leg, () => leg.Run(calls));

    private List<PingLegResult> RunRounds(string what, int rounds, IReadOnlyList<(IPingLeg Leg, Func<PingRound> Run)> legs)
    {
        var found = legs.Select(static _ => new List<PingRound>()).ToList();
        for (int i = 0; i < rounds; i++)
        {
            IEnumerable<int> order = Enumerable.Range(0, legs.Count);
            foreach (int leg in i % 2 == 0 ? order : order.Reverse())
            {
                cluster.Stop.ThrowIfCancellationRequested();
                double spinnerMs = Spinner.Run();
                found[leg].Add(legs[leg].Run() with { SpinnerMs = spinnerMs });
            }
            cluster.Advance(1.0 / Parts / rounds);
            cluster.Report(
                $"{what}, round {i + 1} of {rounds}: {string.Join(", ", legs.Zip(found, static (leg, all) => $"{leg.Leg.Name} p50 {all[^1].Latencies.P50:F1} µs p99 {all[^1].Latencies.P99:F1} µs"))}");
        }
        return [.. legs.Zip(found, static (leg, all) => new PingLegResult(leg.Leg.Name, leg.Leg.Durability, all))];
    }
}
