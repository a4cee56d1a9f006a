namespace CRA.Links;

/// <summary>
/// Says how long to wait before each dial: not at all before the first, then a random time below a bound that doubles from 20 ms to 2 s
/// (full jitter), so that peers that lost the same instance do not come back in step. One thread uses it.
/// </summary>
/// <param name="random">Source of uniform numbers in [0, 1).</param>
public sealed class Backoff(Func<double> random)
{
    public static readonly TimeSpan FirstMax = TimeSpan.FromMilliseconds(20);
    public static readonly TimeSpan Cap = TimeSpan.FromSeconds(2);

    /// <summary>The upper bound of the next wait; zero before the first dial.</summary>
    private TimeSpan _max = TimeSpan.Zero;

    /// <summary>Returns the wait before the next dial. Its bound grows with each call until <see cref="Reset"/>.</summary>
    public TimeSpan Next()
    {
        TimeSpan max = _max;
        _max = max == TimeSpan.Zero ? FirstMax : TimeSpan.FromTicks(Math.Min(Cap.Ticks, max.Ticks * 2));
        if (max == TimeSpan.Zero) return max;
        double share = random();
        if (!(share >= 0 && share < 1)) throw new InvalidOperationException($"The random source gave {share}, not a value in [0, 1).");
        return max * share;
    }

    /// <summary>Makes the next dial come at once. It is called when the peer has accepted us, not merely when its socket has.</summary>
    public void Reset() => _max = TimeSpan.Zero;
}
