namespace HelloWorld.Orchestration;

/// <summary>
/// How long the service was away: from a kill until both sides have answered a question that was asked after it, and a further call was
/// applied. A kill during a recovery prolongs it.
/// </summary>
internal sealed class Recoveries
{
    private readonly List<TimeSpan> durations = [];
    private TimeSpan? began;

    public bool IsRecovering => began is not null;

    public int Count => durations.Count;

    public TimeSpan? Last => durations.Count == 0 ? null : durations[^1];

    public TimeSpan? Longest => durations.Count == 0 ? null : durations.Max();

    public TimeSpan? Median
    {
        get
        {
            if (durations.Count == 0) return null;
            TimeSpan[] sorted = [.. durations.Order()];
            return sorted[sorted.Length / 2];
        }
    }

    public void Killed(TimeSpan now) => began ??= now;

    public void Back(TimeSpan now)
    {
        if (began is not { } since) return;
        durations.Add(now - since);
        began = null;
    }
}
