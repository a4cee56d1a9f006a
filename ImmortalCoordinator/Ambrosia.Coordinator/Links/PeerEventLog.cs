using Ambrosia.Protocol;
using Ambrosia.Protocol.Locking;
using Microsoft.Extensions.Logging;

namespace Ambrosia.Coordinator.Links;

/// <summary>Names what happened on a connection that the operator hears of.</summary>
internal enum PeerEvent { Refused, Stopped, ToldGoodbye, Lost, Violation, Closed }

/// <summary>
/// Logs what happens on connections to peers. An event of a kind is logged at once; while it comes again and again it is logged ever more
/// seldom, with how often it came in between, so that a peer that is refused for good does not fill the operator's log. It owns when what
/// was logged about whom; only peers that are known get an entry. Any thread may call it.
/// </summary>
internal sealed class PeerEventLog(ILogger logger, TimeProvider time)
{
    private static readonly TimeSpan s_windowMin = TimeSpan.FromSeconds(10), s_windowMax = TimeSpan.FromMinutes(10);

    private readonly RankedLock _gate = new(LockRank.PeerEventLog);
    private readonly Dictionary<(InstanceId Peer, PeerEvent Event), LastEvent> _last = [];

    /// <summary>The next line is due at <see cref="Due"/>; until then events are counted.</summary>
    private sealed class LastEvent
    {
        public TimeSpan Due;
        public TimeSpan Window;
        public int LeftOut;
    }

    /// <summary>Logs an event, unless the same one of this peer was logged a short while ago.</summary>
    /// <param name="known">Null: of a stranger everything is logged, once a connection.</param>
    /// <param name="name">How the other side is called in the line.</param>
    public void Log(InstanceId? known, string name, PeerEvent happened, string why)
    {
        int leftOut = 0;
        if (known is { } peer && !IsDue((peer, happened), out leftOut)) return;
        if (leftOut > 0) why = $"{why} ({leftOut} times more since this was last logged)";
        switch (happened)
        {
            case PeerEvent.Refused: logger.LinkRefused(name, why, leftOut); break;
            case PeerEvent.Stopped: logger.LinkStopped(name, why, leftOut); break;
            case PeerEvent.ToldGoodbye: logger.LinkToldGoodbye(name, why, leftOut); break;
            case PeerEvent.Lost: logger.LinkLost(name, why, leftOut); break;
            case PeerEvent.Violation: logger.LinkViolated(name, why, leftOut); break;
            default: logger.LinkClosed(name, why, leftOut); break;
        }
    }

    private bool IsDue((InstanceId, PeerEvent) key, out int leftOut)
    {
        TimeSpan now = time.GetElapsedTime(0);
        using (_gate.Enter())
        {
            leftOut = 0;
            if (!_last.TryGetValue(key, out LastEvent? last)) _last.Add(key, last = new LastEvent());
            else if (now < last.Due)
            {
                last.LeftOut++;
                return false;
            }
            bool wasQuiet = last.Window == TimeSpan.Zero || now - last.Due > last.Window;
            last.Window = wasQuiet ? s_windowMin : TimeSpan.FromTicks(Math.Min(s_windowMax.Ticks, 2 * last.Window.Ticks));
            last.Due = now + last.Window;
            (leftOut, last.LeftOut) = (last.LeftOut, 0);
            return true;
        }
    }
}
