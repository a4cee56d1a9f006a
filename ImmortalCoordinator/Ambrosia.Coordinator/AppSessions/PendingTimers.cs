using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Locking;
using Ambrosia.Protocol.Records;

namespace Ambrosia.Coordinator.AppSessions;

/// <summary>
/// The timers that the running session's app waits for (protocol P5.14), the first due on top. What the app has said is all there is: each
/// session begins with none and says them again. A timer whose record was appended waits on, so that it is appended once, until the
/// app drops it or sets it anew. Bounded by the protocol. The thread that reads the app writes, the one that fires reads; one lock.
/// </summary>
internal sealed class PendingTimers
{
    /// <summary>An app may wait for so many timers at once (protocol P5.14).</summary>
    public const int WaitingMax = 1 << 20;

    /// <summary>
    /// Entries that were replaced or dropped stay in the heap until they come up, or are as many as this beyond those that wait.
    /// </summary>
    private const int StaleMax = 1024;

    private readonly RankedLock _gate = new(LockRank.PendingTimers);
    private readonly Dictionary<ulong, (long DueUs, bool IsLogged)> _waiting = [];
    private readonly PriorityQueue<ulong, (long DueUs, ulong Timer)> _heap = new();

    /// <summary>So many timers are waited for.</summary>
    public int Count { get { using (_gate.Enter()) return _waiting.Count; } }

    /// <summary>A session begins.</summary>
    public void Clear()
    {
        using (_gate.Enter())
        {
            _waiting.Clear();
            _heap.Clear();
        }
    }

    /// <summary>True: nothing is due before it, so whoever waits for the first has to look again.</summary>
    /// <exception cref="ProtocolViolation">P5.14: too many.</exception>
    public bool Set(TimerSet timer)
    {
        using (_gate.Enter())
        {
            bool isKnown = _waiting.TryGetValue(timer.Timer, out (long DueUs, bool IsLogged) before);
            if (isKnown && before.DueUs == timer.DueUs) return false;
            if (!isKnown && _waiting.Count == WaitingMax)
                throw new ProtocolViolation("P5.14", $"timer {timer.Timer} where {WaitingMax} wait already");
            _waiting[timer.Timer] = (timer.DueUs, false);
            _heap.Enqueue(timer.Timer, (timer.DueUs, timer.Timer));
            if (_heap.Count > 2 * _waiting.Count + StaleMax) Rebuild();
            return _heap.TryPeek(out ulong first, out _) && first == timer.Timer;
        }
    }

    public void Drop(ulong timer)
    {
        using (_gate.Enter())
        {
            _waiting.Remove(timer);
            if (_heap.Count > 2 * _waiting.Count + StaleMax) Rebuild();
        }
    }

    /// <summary>The first timer that is due and not in the log; it counts as logged from here on.</summary>
    public bool TryTake(long nowUs, out TimerFiredRecord fired)
    {
        using (_gate.Enter())
        {
            if (FirstDueUs() is { } due && due <= nowUs)
            {
                ulong timer = _heap.Dequeue();
                _waiting[timer] = (due, true);
                fired = new TimerFiredRecord(timer, due);
                return true;
            }
        }
        fired = null!;
        return false;
    }

    /// <summary>The log had no room for what <see cref="TryTake"/> gave; unless the app has changed its mind meanwhile.</summary>
    public void GiveBack(TimerFiredRecord fired)
    {
        using (_gate.Enter())
        {
            if (!_waiting.TryGetValue(fired.Timer, out (long DueUs, bool IsLogged) timer) || timer != (fired.DueUs, true)) return;
            _waiting[fired.Timer] = (fired.DueUs, false);
            _heap.Enqueue(fired.Timer, (fired.DueUs, fired.Timer));
        }
    }

    /// <summary>When the first is due that is not in the log, µs since 1970; null: none waits.</summary>
    public long? FirstDue { get { using (_gate.Enter()) return FirstDueUs(); } }

    private long? FirstDueUs()
    {
        while (_heap.TryPeek(out ulong timer, out (long DueUs, ulong) place))
        {
            if (_waiting.TryGetValue(timer, out (long DueUs, bool IsLogged) now) && now == (place.DueUs, false)) return place.DueUs;
            _heap.Dequeue();
        }
        return null;
    }

    private void Rebuild()
    {
        _heap.Clear();
        foreach ((ulong timer, (long dueUs, bool isLogged)) in _waiting)
            if (!isLogged) _heap.Enqueue(timer, (dueUs, timer));
    }
}
