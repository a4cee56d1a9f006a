namespace Ambrosia.Perf;

/// <summary>How much a stream measures.</summary>
/// <param name="Sizes">Bytes of a message.</param>
/// <param name="RoundBytes">Bytes of one of our rounds.</param>
/// <param name="MessagesMax">Messages of a round at most, which counts for small ones.</param>
/// <param name="Rounds">That count.</param>
/// <param name="Killed">Rounds behind them that lose processes in the middle.</param>
internal sealed record StreamOptions(IReadOnlyList<int> Sizes, long RoundBytes, long MessagesMax, int Rounds, int Killed)
{
    /// <summary>Rounds before the first that counts: the JIT has then seen the road of a call.</summary>
    public int WarmUpRounds { get; init; } = 2;

    /// <summary>At least so long before the first size.</summary>
    public TimeSpan WarmUpTime { get; init; }

    /// <summary>Rounds are short, and the JIT goes on behind them for seconds.</summary>
    public static TimeSpan WarmUpUsual => TimeSpan.FromSeconds(5);

    /// <summary>Bytes of the receivers' state.</summary>
    public long StateBytes { get; init; }

    public TimeSpan? ImpulseEvery { get; init; }

    public long MessagesOf(int size) => Math.Clamp(RoundBytes / size, 1, MessagesMax);
}
