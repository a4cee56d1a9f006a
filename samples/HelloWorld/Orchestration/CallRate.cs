namespace HelloWorld.Orchestration;

/// <summary>Measures how many calls were applied during the last second. Each was durable before it was applied.</summary>
internal sealed class CallRate
{
    private static readonly TimeSpan s_window = TimeSpan.FromSeconds(1);

    private readonly Queue<(TimeSpan At, long Applied)> _samples = new();

    /// <summary>The rate in calls a second.</summary>
    public double Now { get; private set; }

    public void Add(TimeSpan at, long applied)
    {
        _samples.Enqueue((at, applied));
        while (_samples.Count > 2 && at - _samples.Peek().At > s_window) _samples.Dequeue();
        (TimeSpan firstAt, long first) = _samples.Peek();
        // A server that replays reports old numbers again: going back is no progress.
        Now = at > firstAt ? Math.Max(0, (applied - first) / (at - firstAt).TotalSeconds) : 0;
    }
}
