namespace Ambrosia.TestKit;

/// <summary>A timer on virtual time. Invariant: an entry of the queue counts only while its number equals <see cref="Arming"/>.</summary>
internal sealed class FakeTimer(FakeTime time, TimerCallback callback, object? state) : ITimer
{
    /// <summary>The runtime's timers take no more than 2³²−2 ms.</summary>
    private static readonly TimeSpan s_timeMax = TimeSpan.FromMilliseconds(uint.MaxValue - 1);

    private TimeSpan _period = Timeout.InfiniteTimeSpan;
    private bool _disposed;

    /// <summary>Number of the newest arming; older entries in the queue are void.</summary>
    public long Arming { get; private set; }

    public bool Change(TimeSpan dueTime, TimeSpan period)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(dueTime, Timeout.InfiniteTimeSpan);
        ArgumentOutOfRangeException.ThrowIfLessThan(period, Timeout.InfiniteTimeSpan);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(dueTime, s_timeMax);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(period, s_timeMax);
        if (_disposed) return false;
        _period = period;
        Arming = time.Arm(this, dueTime);
        return true;
    }

    public void Fire()
    {
        if (_disposed) return;
        // As with the real one, a period of zero fires once.
        Arming = time.Arm(this, _period > TimeSpan.Zero ? _period : Timeout.InfiniteTimeSpan);
        callback(state);
    }

    public void Dispose()
    {
        _disposed = true;
        Arming = 0;
    }

    public ValueTask DisposeAsync()
    {
        Dispose();
        return ValueTask.CompletedTask;
    }
}
