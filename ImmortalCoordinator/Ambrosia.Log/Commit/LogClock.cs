using Ambrosia.Protocol.Locking;

namespace Ambrosia.Log.Commit;

/// <summary>
/// Tells the time of a log while its primary writes it. It goes with the monotonic clock, which in production is that of
/// <see cref="BootTime"/>, and comes nearer to the wall clock by at most a tenth of the time that passes. So a wall clock that is set,
/// rightly or wrongly, moves neither what handlers see nor the timers that go by it. A log that is ahead of the wall clock when it is taken
/// over goes on from where it stands. It owns the time told last, and the jump of the wall clock that nobody has asked for yet. Invariant:
/// the time never goes back, and passes at 0.9 to 1.1 of the monotonic
/// rate. Any thread; one lock.
/// </summary>
public sealed class LogClock
{
    /// <summary>A wall clock that moves by this much against the monotonic one has jumped; by less, it is being kept right.</summary>
    public static readonly TimeSpan JumpMin = TimeSpan.FromSeconds(1);

    /// <summary>The share of the time that passes by which the wall clock is approached.</summary>
    private const int SlewShare = 10;

    private readonly RankedLock _gate = new(LockRank.LogClock);
    private readonly TimeProvider _time;

    /// <summary>The readings of the two clocks when the time was told last, in ticks of 100 ns. Guarded by the lock.</summary>
    private (long Monotonic, long Wall) _last;

    /// <summary>The time told last, in ticks since 1970. Guarded by the lock.</summary>
    private long _now;

    /// <summary>By so many ticks the wall clock has jumped since <see cref="TakeJump"/>. Guarded by the lock.</summary>
    private long _jumped;

    /// <param name="time">The two clocks.</param>
    /// <param name="notBeforeMicros">The log has this time already, µs since 1970.</param>
    public LogClock(TimeProvider time, long notBeforeMicros)
    {
        _time = time;
        _last = Read();
        _now = Math.Max(_last.Wall, notBeforeMicros * TimeSpan.TicksPerMicrosecond);
        if (_now - _last.Wall >= JumpMin.Ticks) _jumped = _last.Wall - _now; // it was set back while nobody wrote, or forward before
    }

    /// <summary>Returns the time, µs since 1970.</summary>
    public long NowMicros()
    {
        using (_gate.Enter()) return Advance() / TimeSpan.TicksPerMicrosecond;
    }

    /// <summary>Returns true, once each time, when the wall clock has jumped, so that the time is another for a while.</summary>
    /// <param name="jump">The way that the wall clock has gone; below zero: back.</param>
    /// <param name="ahead">The time is ahead of the wall clock by this much; below zero: behind it.</param>
    public bool TakeJump(out TimeSpan jump, out TimeSpan ahead)
    {
        using (_gate.Enter())
        {
            Advance();
            (jump, ahead) = (new TimeSpan(_jumped), new TimeSpan(_now - _last.Wall));
            _jumped = 0;
            return jump != TimeSpan.Zero;
        }
    }

    private long Advance()
    {
        (long monotonic, long wall) = Read();
        long passed = Math.Max(0, monotonic - _last.Monotonic);
        long jump = wall - _last.Wall - passed;
        if (Math.Abs(jump) >= JumpMin.Ticks) _jumped += jump;
        _last = (_last.Monotonic + passed, wall);
        long behind = wall - (_now + passed), slewMax = passed / SlewShare;
        _now += passed + Math.Clamp(behind, -slewMax, slewMax);
        return _now;
    }

    private (long Monotonic, long Wall) Read() =>
        (_time.GetElapsedTime(0).Ticks, (_time.GetUtcNow() - DateTimeOffset.UnixEpoch).Ticks);
}
