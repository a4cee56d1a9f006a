namespace HelloWorld.Orchestration;

/// <summary>Applied calls a second over the last second; each of them was durable before it was applied.</summary>
internal sealed class CallRate
{
    private static readonly TimeSpan window = TimeSpan.FromSeconds(1);

    private readonly Queue<(TimeSpan At, long Applied)> samples = new();

    /// <summary>Calls a second.</summary>
    public double Now { get; private set; }

    public void Add(TimeSpan at, long applied)
    {
        samples.Enqueue((at, applied));
        while (samples.Count > 2 && at - samples.Peek().At > window) samples.Dequeue();
        (TimeSpan firstAt, long first) = samples.Peek();
        // A server that replays says what it said before: going back is no progress.
        Now = at > firstAt ? Math.Max(0, (applied - first) / (at - firstAt).TotalSeconds) : 0;
    }
}
