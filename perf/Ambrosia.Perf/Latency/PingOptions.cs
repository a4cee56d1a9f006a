namespace Ambrosia.Perf;

/// <summary>How much a ping measures.</summary>
/// <param name="Calls">Of a round with one call under way.</param>
/// <param name="Rounds">That count.</param>
internal sealed record PingOptions(int Calls, int Rounds)
{
    /// <summary>Calls under way at a time in the crowd.</summary>
    public int Outstanding { get; init; } = 1_000;

    /// <summary>Crowds behind the others in whose middle processes are killed.</summary>
    public int Killed { get; init; }

    /// <summary>Part of what the open loop's road carries at most, at which it asks.</summary>
    public double Load { get; init; } = 0.5;

    /// <summary>Calls before the first that counts: the JIT has then seen the road of one.</summary>
    public int WarmUpCalls { get; init; } = 10_000;

    /// <summary>Calls of a round of the crowd and of the open loop: as many as take about as long as one after another.</summary>
    public int ManyCalls => Math.Max(Outstanding, Calls * 10);
}
