// A stream between two hosts whose meters are collected in every second round: one pair of processes, so that nothing but the collecting
// differs. The order within pairs turns round each time (ABBA).
namespace Ambrosia.Perf;

/// <summary>What <c>metrics</c> does.</summary>
internal sealed class MetricsCommand(ClusterOptions cluster)
{
    private const string Collected = "collected", Alone = "without";

    private double _bestSpinnerMs = double.MaxValue;

    /// <param name="every">The time between two collections.</param>
    /// <exception cref="FailedRoundException">A round's figures mean nothing.</exception>
    public SizeResult Run(int bytes, long messages, int pairs, TimeSpan every, TimeSpan warmUp)
    {
        using var leg = new AmbrosiaLeg(cluster with { Local = LocalHop.Hosted }, StreamPlan.OneWay);
        for (long begun = TimeProvider.System.GetTimestamp(); ;)
        {
            leg.Run(bytes, messages);
            if (TimeProvider.System.GetElapsedTime(begun) >= warmUp) break;
        }
        var collected = new List<StreamRound>();
        var alone = new List<StreamRound>();
        for (int i = 0; i < pairs; i++)
        {
            foreach (bool isCollected in i % 2 == 0 ? [true, false] : new[] { false, true })
                (isCollected ? collected : alone).Add(RunRound(leg, bytes, messages, isCollected ? every : null));
            cluster.Advance(1.0 / pairs);
            cluster.Report(
                $"pair {i + 1} of {pairs}: collected {collected[^1].MessagesPerSecond:N0}/s, without {alone[^1].MessagesPerSecond:N0}/s");
        }
        return new SizeResult(
            bytes, [new LegResult(Collected, leg.Durability, collected), new LegResult(Alone, leg.Durability, alone)],
            [PairedRatio.Of(Alone, collected, alone, _bestSpinnerMs)], []);
    }

    private StreamRound RunRound(AmbrosiaLeg leg, int bytes, long messages, TimeSpan? every)
    {
        cluster.Stop.ThrowIfCancellationRequested();
        double spinnerMs = Spinner.Run();
        _bestSpinnerMs = Math.Min(_bestSpinnerMs, spinnerMs);
        if (every is { } interval)
            foreach (Member member in leg.Cluster.Members) member.Tell($"collect {interval.TotalMicroseconds:F0}");
        StreamRound round = leg.Run(bytes, messages) with { SpinnerMs = spinnerMs };
        if (every is not null)
            foreach (Member member in leg.Cluster.Members) RequireCollected(leg.Cluster, member);
        return round;
    }

    /// <summary>Ends the collecting of one host, which must have observed something.</summary>
    private static void RequireCollected(Cluster cluster, Member member)
    {
        member.Tell("collectless");
        Line line = cluster.Await(line => line.From == member && line.Words is [Collected, _, _], Collected);
        if (line.Words is not [_, _, var values] || values == "0")
            throw new FailedRoundException($"{member.Instance} was '{line.Text}' in a round: it has no meter that we know");
    }
}
