namespace Ambrosia.Perf;

/// <summary>One leg's rounds of calls.</summary>
internal sealed record PingLegResult(string Leg, string Durability, IReadOnlyList<PingRound> Rounds)
{
    public Latencies Median => Latencies.MedianOf([.. Rounds.Select(static round => round.Latencies)]);

    public double CallsPerSecond => Perf.Median.Of(Rounds, static round => round.CallsPerSecond);

    /// <summary>All processes of the leg together used this.</summary>
    public double CpuMicrosPerCall => Perf.Median.Of(Rounds, static round => round.Used.CpuSeconds / round.Latencies.Count * 1e6);
}

/// <summary>Everything that <c>ping</c> measured.</summary>
/// <param name="Closed">One call after another; the first leg is ours.</param>
/// <param name="Crowd">Many calls under way at a time; the first leg is ours.</param>
/// <param name="Open">Calls at fixed moments, each from the moment at which it was to be made; ours.</param>
/// <param name="OpenPerSecond">The rate of the open loop.</param>
internal sealed record PingResult(
    IReadOnlyList<PingLegResult> Closed, IReadOnlyList<PingLegResult> Crowd, PingLegResult Open, double OpenPerSecond)
{
    /// <summary>Crowds that lost processes in their middle, and whose calls were all answered rightly.</summary>
    public IReadOnlyList<KilledRound> Killed { get; init; } = [];

    /// <summary>Our p50 over each rival's.</summary>
    public IReadOnlyDictionary<string, double> P50Ratios =>
        Closed.Skip(1).ToDictionary(static leg => leg.Leg, leg => Closed[0].Median.P50 / leg.Median.P50);

    public IReadOnlyDictionary<string, double> P99Ratios =>
        Closed.Skip(1).ToDictionary(static leg => leg.Leg, leg => Closed[0].Median.P99 / leg.Median.P99);

    /// <summary>Our calls a second over each rival's.</summary>
    public IReadOnlyDictionary<string, double> CrowdRatios =>
        Crowd.Skip(1).ToDictionary(static leg => leg.Leg, leg => Crowd[0].CallsPerSecond / leg.CallsPerSecond);
}
