namespace Ambrosia.Perf;

/// <summary>One round of calls, each answered rightly.</summary>
/// <param name="Seconds">From the first call to the last answer.</param>
/// <param name="Used">By all processes of the leg meanwhile.</param>
internal sealed record PingRound(Latencies Latencies, double Seconds, Usage Used)
{
    public double SpinnerMs { get; init; }

    public double CallsPerSecond => Latencies.Count / Seconds;
}
