namespace CRA;

/// <summary>
/// How long to wait before each dial: not at all before the first, then a random time below a bound that doubles from 20 ms to 2 s
/// (full jitter), so that peers that lost the same instance do not come back in step. Used by one thread.
/// </summary>
/// <param name="random">Uniform in [0, 1).</param>
public sealed class Backoff(Func<double> random)
{
    public static readonly TimeSpan FirstMax = TimeSpan.FromMilliseconds(20);
    public static readonly TimeSpan Cap = TimeSpan.FromSeconds(2);

    // Upper bound of the next wait; zero before the first dial.
    private TimeSpan _max = TimeSpan.Zero;

    /// <summary>The wait before the next dial; grows with each call until <see cref="Reset"/>.</summary>
    public TimeSpan Next()
    {
        TimeSpan max = _max;
        _max = max == TimeSpan.Zero ? FirstMax : TimeSpan.FromTicks(Math.Min(Cap.Ticks, max.Ticks * 2));
        if (max == TimeSpan.Zero) return max;
        double share = random();
        if (!(share >= 0 && share < 1)) throw new InvalidOperationException($"The random source gave {share}, not a value in [0, 1).");
        return max * share;
    }

    /// <summary>The peer accepted us (not merely its socket): the next dial comes at once again.</summary>
    public void Reset() => _max = TimeSpan.Zero;
}
