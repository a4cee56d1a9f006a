namespace CRA;

/// <summary>
/// How many lines strangers may write into the operator's log: a burst, and then a few a second; what is left out is counted and the count
/// is told with the next line that passes. Pure: it is told the time. Used under its owner's lock or by one thread.
/// </summary>
public sealed class LineBudget
{
    public const int BurstMax = 100;
    public const double PerSecond = 2;

    private readonly long _frequency;
    private long _at;

    // Lines that may be written at _at; 0 ≤ _left ≤ BurstMax.
    private double _left = BurstMax;

    /// <param name="frequency">Timestamps a second (<see cref="TimeProvider.TimestampFrequency"/>).</param>
    /// <param name="now">The timestamp of its beginning.</param>
    public LineBudget(long frequency, long now)
    {
        ArgumentOutOfRangeException.ThrowIfNegativeOrZero(frequency);
        (_frequency, _at) = (frequency, now);
    }

    /// <summary>Lines left out since one was last written.</summary>
    public long LeftOut { get; private set; }

    /// <summary>The line as it is to be written, or null: it is left out.</summary>
    public string? Admit(string line, long now)
    {
        Refill(now);
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
