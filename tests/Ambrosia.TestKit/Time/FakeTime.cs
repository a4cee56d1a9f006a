namespace Ambrosia.TestKit;

/// <summary>
/// Virtual time. It stands still until <see cref="Advance"/>, which fires the timers that fall due, each at its own time, in order of time
/// and then of setting, on the calling thread. The monotonic clock and the wall clock are apart, so that a test can shift the latter.
/// </summary>
public sealed class FakeTime : TimeProvider
{
    private readonly Lock gate = new();

    /// <summary>Invariant: holds each armed timer under its newest arming; entries of older armings are skipped when met.</summary>
    private readonly PriorityQueue<(FakeTimer Timer, long Arming), (long DueTicks, long Arming)> armed = new();

    private readonly DateTimeOffset start;
    private TimeSpan elapsed;
    private TimeSpan wallShift;
    private long armings;
    private bool advancing;

    public FakeTime(DateTimeOffset? start = null) => this.start = start ?? new DateTimeOffset(2020, 1, 1, 0, 0, 0, TimeSpan.Zero);

    /// <summary>Virtual time since the beginning, on the monotonic clock.</summary>
    public TimeSpan Elapsed { get { lock (gate) return elapsed; } }

    /// <summary>Time until the next timer; null when none is armed.</summary>
    public TimeSpan? UntilNextTimer
    {
        get
        {
            lock (gate) return PeekArmed(out TimeSpan due) ? due - elapsed : null;
        }
    }

    public override TimeZoneInfo LocalTimeZone => TimeZoneInfo.Utc;

    public override long TimestampFrequency => TimeSpan.TicksPerSecond;

    public override long GetTimestamp() => Elapsed.Ticks;

    public override DateTimeOffset GetUtcNow() { lock (gate) return start + elapsed + wallShift; }

    /// <summary>Moves time on and fires what falls due.</summary>
    /// <exception cref="ArgumentOutOfRangeException">Time does not run backwards.</exception>
    /// <exception cref="InvalidOperationException">Called from a timer.</exception>
    public void Advance(TimeSpan by)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(by, TimeSpan.Zero);
        TimeSpan end;
        lock (gate)
        {
            if (advancing) throw new InvalidOperationException("a timer's callback must not advance the time");
            advancing = true;
            end = elapsed + by;
        }

        try
        {
            while (TakeDue(end) is { } timer) timer.Fire();
        }
        finally
        {
            lock (gate) advancing = false;
        }
    }

    /// <summary>Moves on to the next timer and fires all that fall due then; false when no timer is armed.</summary>
    public bool AdvanceToNextTimer()
    {
        if (UntilNextTimer is not { } wait) return false;
        Advance(wait);
        return true;
    }

    /// <summary>The wall clock jumps, forward or back; the monotonic clock and the timers do not notice.</summary>
    public void ShiftWallClock(TimeSpan by) { lock (gate) wallShift += by; }

    public override ITimer CreateTimer(TimerCallback callback, object? state, TimeSpan dueTime, TimeSpan period)
    {
        ArgumentNullException.ThrowIfNull(callback);
        var timer = new FakeTimer(this, callback, state);
        timer.Change(dueTime, period);
        return timer;
    }

    /// <summary>Arms a timer anew and returns the arming's number; a wait below zero only makes the older arming void.</summary>
    internal long Arm(FakeTimer timer, TimeSpan wait)
    {
        lock (gate)
        {
            long arming = ++armings;
            if (wait >= TimeSpan.Zero) armed.Enqueue((timer, arming), ((elapsed + wait).Ticks, arming));
            return arming;
        }
    }

    private FakeTimer? TakeDue(TimeSpan end)
    {
        lock (gate)
        {
            if (!PeekArmed(out TimeSpan due) || due > end)
            {
                elapsed = end;
                return null;
            }

            elapsed = due;
            return armed.Dequeue().Timer;
        }
    }

    private bool PeekArmed(out TimeSpan due)
    {
        while (armed.TryPeek(out (FakeTimer Timer, long Arming) entry, out (long DueTicks, long Arming) key))
        {
            due = TimeSpan.FromTicks(key.DueTicks);
            if (entry.Timer.Arming == entry.Arming) return true;
            armed.Dequeue();
        }

        due = default;
        return false;
    }
}
