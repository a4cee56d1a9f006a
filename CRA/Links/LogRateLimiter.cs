namespace CRA.Links;

/// <summary>
/// Limits how many lines the behaviour of strangers causes in the operator's log: a burst, and then a few a second. Lines that are left out
/// are counted, and the next line that passes states the count. It is told the time. It is used under its owner's lock or by one thread.
/// </summary>
public sealed class LogRateLimiter
{
    public const int BurstMax = 100;
    public const double PerSecond = 2;

    private readonly long _frequency;
    private long _at;

    /// <summary>The number of lines that may be written at the timestamp <see cref="_at"/>; 0 ≤ _left ≤ BurstMax.</summary>
    private double _left = BurstMax;

    /// <param name="frequency">Number of timestamps a second (<see cref="TimeProvider.TimestampFrequency"/>).</param>
    /// <param name="now">Timestamp of the beginning.</param>
    public LogRateLimiter(long frequency, long now)
    {
        ArgumentOutOfRangeException.ThrowIfNegativeOrZero(frequency);
        (_frequency, _at) = (frequency, now);
    }

    /// <summary>The number of lines left out since one was last written.</summary>
    public long LeftOut { get; private set; }

    /// <summary>Returns the line as it is to be written; null if it is left out.</summary>
    public string? Admit(string line, long now) => Admit(line, now, out _);

    /// <inheritdoc cref="Admit(string, long)"/>
    /// <param name="leftOut">The number of lines left out before this one, which the returned line states, too.</param>
    public string? Admit(string line, long now, out long leftOut)
    {
        Refill(now);
        leftOut = LeftOut;
        if (_left < 1)
        {
            LeftOut++;
            return null;
        }
        _left--;
        if (LeftOut > 0) line = $"{line} ({LeftOut} lines like this were left out)";
        LeftOut = 0;
        return line;
    }

    private void Refill(long now)
    {
        if (now <= _at) return;
        _left = Math.Min(BurstMax, _left + ((now - _at) / (double)_frequency * PerSecond));
        _at = now;
    }
}
