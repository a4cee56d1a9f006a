namespace Ambrosia.TestKit;

/// <summary>
/// Virtual time. It stands still until <see cref="Advance"/>, which fires the timers that fall due, each at its own time, in order of time
/// and then of setting, on the calling thread. The monotonic clock and the wall clock are apart, so that a test can shift the latter.
/// </summary>
public sealed class FakeTime : TimeProvider
{
    private readonly Lock _gate = new();

    /// <summary>Invariant: holds each armed timer under its newest arming; entries of older armings are skipped when met.</summary>
    private readonly PriorityQueue<(FakeTimer Timer, long Arming), (long DueTicks, long Arming)> _armed = new();

    private readonly DateTimeOffset _start;
    private TimeSpan _elapsed;
    private TimeSpan _wallShift;
    private long _armings;
    private bool _advancing;

    public FakeTime(DateTimeOffset? start = null) => _start = start ?? new DateTimeOffset(2020, 1, 1, 0, 0, 0, TimeSpan.Zero);

    /// <summary>Virtual time since the beginning, on the monotonic clock.</summary>
    public TimeSpan Elapsed { get { lock (_gate) return _elapsed; } }

    /// <summary>Time until the next timer; null when none is armed.</summary>
    public TimeSpan? UntilNextTimer
    {
        get
        {
            lock (_gate) return PeekArmed(out TimeSpan due) ? due - _elapsed : null;
        }
    }

    public override TimeZoneInfo LocalTimeZone => TimeZoneInfo.Utc;

    public override long TimestampFrequency => TimeSpan.TicksPerSecond;

    public override long GetTimestamp() => Elapsed.Ticks;

    public override DateTimeOffset GetUtcNow() { lock (_gate) return _start + _elapsed + _wallShift; }

    /// <summary>Moves time on and fires what falls due.</summary>
    /// <exception cref="ArgumentOutOfRangeException">Time does not run backwards.</exception>
    /// <exception cref="InvalidOperationException">Called from a timer.</exception>
    public void Advance(TimeSpan by)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(by, TimeSpan.Zero);
        TimeSpan end;
        lock (_gate)
        {
            if (_advancing) throw new InvalidOperationException("a timer's callback must not advance the time");
            _advancing = true;
            end = _elapsed + by;
        }

        try
        {
            while (TakeDue(end) is { } timer) timer.Fire();
        }
        finally
        {
            lock (_gate) _advancing = false;
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
    public void ShiftWallClock(TimeSpan by) { lock (_gate) _wallShift += by; }

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
        lock (_gate)
        {
            long arming = ++_armings;
            if (wait >= TimeSpan.Zero) _armed.Enqueue((timer, arming), ((_elapsed + wait).Ticks, arming));
            return arming;
        }
    }

    private FakeTimer? TakeDue(TimeSpan end)
    {
        lock (_gate)
        {
            if (!PeekArmed(out TimeSpan due) || due > end)
            {
                _elapsed = end;
                return null;
            }

            _elapsed = due;
            return _armed.Dequeue().Timer;
        }
    }

    private bool PeekArmed(out TimeSpan due)
    {
        while (_armed.TryPeek(out (FakeTimer Timer, long Arming) entry, out (long DueTicks, long Arming) key))
        {
            due = TimeSpan.FromTicks(key.DueTicks);
            if (entry.Timer.Arming == entry.Arming) return true;
            _armed.Dequeue();
        }

        due = default;
        return false;
    }
}
