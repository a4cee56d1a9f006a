namespace HelloWorld.Orchestration;

/// <summary>
/// Measures how long the service was away: from a kill until both sides have answered a question that was asked after it, and a further
/// call was applied. A kill during a recovery prolongs it.
/// </summary>
internal sealed class Recoveries
{
    private readonly List<TimeSpan> _durations = [];
    private TimeSpan? _began;

    public bool IsRecovering => _began is not null;

    public int Count => _durations.Count;

    public TimeSpan? Last => _durations.Count == 0 ? null : _durations[^1];

    public TimeSpan? Longest => _durations.Count == 0 ? null : _durations.Max();

    public TimeSpan? Median
    {
        get
        {
            if (_durations.Count == 0) return null;
            TimeSpan[] sorted = [.. _durations.Order()];
            return sorted[sorted.Length / 2];
        }
    }

    public void Killed(TimeSpan now) => _began ??= now;

    public void Back(TimeSpan now)
    {
        if (_began is not { } since) return;
        _durations.Add(now - since);
        _began = null;
    }
}
