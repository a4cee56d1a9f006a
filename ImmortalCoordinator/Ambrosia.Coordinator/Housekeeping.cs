using Ambrosia.Protocol;

namespace Ambrosia.Coordinator;

/// <summary>
/// Decides what of a replica's work is due by the clock, in either role: questions that have waited too long, what follows from a tail that
/// stands still, heartbeats to the app and a look at it, and memory to let go of. It never waits: a pump calls it again and again. One
/// thread.
/// </summary>
internal sealed class Housekeeping(Coordinator parts)
{
    /// <summary>So many steps after the last record the log has its mark, and nothing is left to do.</summary>
    private const int QuietSteps = 3;

    private static readonly TimeSpan s_heartbeatEvery = TimeSpan.FromSeconds(1), s_lookEvery = TimeSpan.FromMilliseconds(250),
        s_letGoEvery = TimeSpan.FromSeconds(10);

    private Lsn _tail;
    private int _quiet;
    private TimeSpan _heartbeat, _look, _letGo;

    /// <summary>Nothing is due soon, unless something comes in.</summary>
    public bool MayRest => _quiet > QuietSteps && !parts.Queries.IsAwaited;

    /// <summary>Does all that is due.</summary>
    /// <param name="now">Monotonic; it may stand while the machine is suspended, when nothing here gets on.</param>
    public void Step(TimeSpan now)
    {
        parts.Queries.Tick();
        parts.Outputs.Backpressure.Tick();
        if (parts.HasLog)
        {
            Lsn tail = parts.Log.Tail;
            bool isQuiet = tail == _tail;
            _quiet = isQuiet ? _quiet + 1 : 0;
            parts.Tick(isQuiet);
            _tail = tail;
        }
        if (IsDue(ref _heartbeat, s_heartbeatEvery, now)) parts.Sessions.Live?.SendHeartbeat();
        if (IsDue(ref _look, s_lookEvery, now))
        {
            parts.LookAtApp(now);
            parts.Rehearse();
        }
        if (IsDue(ref _letGo, s_letGoEvery, now)) parts.Execution.Delivery.ReleaseIfIdle();
    }

    private static bool IsDue(ref TimeSpan last, TimeSpan every, TimeSpan now)
    {
        if (now - last < every) return false;
        last = now;
        return true;
    }
}
