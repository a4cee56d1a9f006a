// One direction as fast as it goes, or several at once, for each size some rounds; rivals take their turns between ours, the order turned
// round each time (ABBA). Behind the rounds that count come those that lose processes in the middle.
using System.Diagnostics;

namespace Ambrosia.Perf;

/// <summary>What <c>stream</c> does.</summary>
/// <param name="rivals">Each takes part in every round.</param>
internal sealed class StreamCommand(ClusterOptions cluster, StreamPlan plan, IReadOnlyList<IStreamLeg> rivals)
{
    /// <summary>Messages by which a rival's speed is found out, and seconds that its rounds may take.</summary>
    private const long TrialMessages = 20_000;
    private const double RivalSecondsMin = 0.5, RivalSecondsMax = 4;

    private double _bestSpinnerMs = double.MaxValue;

    /// <exception cref="FailedRoundException">A round's figures mean nothing.</exception>
    public IReadOnlyList<SizeResult> Run(StreamOptions options)
    {
        using var ours = new AmbrosiaLeg(cluster, plan, options.ImpulseEvery);
        if (options.StateBytes > 0) ours.Hold(options.StateBytes);
        try
        {
            return [.. options.Sizes.Select(size => RunSize(ours, options, size)).ToList().Select(Judge)];
        }
        finally
        {
            foreach (IDisposable rival in rivals.OfType<IDisposable>()) rival.Dispose();
        }
    }

    private (int Size, List<(IStreamLeg Leg, List<StreamRound> Rounds)> Legs, List<KilledRound> Killed) RunSize(
        AmbrosiaLeg ours, StreamOptions options, int size)
    {
        long messages = options.MessagesOf(size);
        StreamRound last = WarmUp(ours, options, size);
        var legs = new List<(IStreamLeg Leg, List<StreamRound> Rounds)> { (ours, []) };
        var amounts = new List<long> { messages };
        foreach (IStreamLeg rival in rivals.Where(rival => rival.BytesMax >= size))
        {
            legs.Add((rival, []));
            amounts.Add(rival is AmbrosiaLeg ? WarmUp(rival, options, size).Messages : AmountOf(rival, size, messages, last.Seconds));
        }
        for (int i = 0; i < options.Rounds; i++)
        {
            IEnumerable<int> order = Enumerable.Range(0, legs.Count);
            foreach (int leg in i % 2 == 0 ? order : order.Reverse()) legs[leg].Rounds.Add(RunRound(legs[leg].Leg, size, amounts[leg]));
            cluster.Advance(1.0 / options.Sizes.Count / (options.Rounds + options.Killed));
            cluster.Report(
                $"{size} B, round {i + 1} of {options.Rounds}: {string.Join(", ", legs.Select(static leg => $"{leg.Leg.Name} {leg.Rounds[^1].MessagesPerSecond:N0}/s"))}");
        }
        var killed = new List<KilledRound>();
        for (int i = 0; i < options.Killed; i++)
        {
            killed.Add(ours.RunKilled(size, messages, (KillTarget)(i % 3)));
            cluster.Advance(1.0 / options.Sizes.Count / (options.Rounds + options.Killed));
            cluster.Report(
                $"{size} B, {killed[^1].Target} killed in the middle: same totals, {killed[^1].SecondsAfterKill:F2} s after the kill");
        }
        return (size, legs, killed);
    }

    private static StreamRound WarmUp(IStreamLeg leg, StreamOptions options, int size)
    {
        TimeSpan least = size == options.Sizes[0] ? options.WarmUpTime : TimeSpan.Zero;
        long begun = Stopwatch.GetTimestamp();
        for (int i = 1; ; i++)
        {
            StreamRound round = leg.Run(size, options.MessagesOf(size));
            if (i >= options.WarmUpRounds && Stopwatch.GetElapsedTime(begun) >= least) return round;
        }
    }

    /// <summary>So many that a rival's round takes about as long as ours, found out by its warm-up.</summary>
    private static long AmountOf(IStreamLeg rival, int size, long messages, double ourSeconds)
    {
        double rate = rival.Run(size, Math.Min(messages, TrialMessages)).MessagesPerSecond;
        return Math.Max(1, (long)(rate * Math.Clamp(ourSeconds, RivalSecondsMin, RivalSecondsMax)));
    }

    private StreamRound RunRound(IStreamLeg leg, int size, long messages)
    {
        double spinnerMs = Spinner.Run();
        _bestSpinnerMs = Math.Min(_bestSpinnerMs, spinnerMs);
        cluster.Stop.ThrowIfCancellationRequested();
        return leg.Run(size, messages) with { SpinnerMs = spinnerMs };
    }

    /// <summary>Only at the end, when the machine's best is known.</summary>
    private SizeResult Judge((int Size, List<(IStreamLeg Leg, List<StreamRound> Rounds)> Legs, List<KilledRound> Killed) found) => new(
        found.Size,
        [.. found.Legs.Select(static leg => new LegResult(leg.Leg.Name, leg.Leg.Durability, leg.Rounds))],
        [.. found.Legs.Skip(1).Select(leg => PairedRatio.Of(leg.Leg.Name, found.Legs[0].Rounds, leg.Rounds, _bestSpinnerMs))],
        found.Killed);
}
