using System.Diagnostics.CodeAnalysis;
using Ambrosia.Coordinator.LogFeed;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Locking;
using Ambrosia.Protocol.Records;

namespace Ambrosia.Coordinator.Quarantine;

/// <summary>
/// Holds what the running session's app says of the messages that it has set aside, and the decisions of a primary's app that the log does
/// not hold yet. The app owns the messages; this is what operators are shown. Bounded by the app's own bound (log-format L5.12). Any
/// thread.
/// </summary>
internal sealed class QuarantineJournal(LogAppender log)
{
    private readonly RankedLock _gate = new(LockRank.QuarantineJournal);
    private readonly SortedDictionary<MessagePlace, SetAsideFrame> _held = [];

    /// <summary>To be logged, in their order; the app's reader waits while there are any.</summary>
    private readonly Queue<SetAsideFrame> _unlogged = new();

    /// <summary>
    /// The last decision that was put into <see cref="_unlogged"/> by this process: another session of the app says it again.
    /// </summary>
    private ulong _taken;

    /// <summary>The decisions stand in the order of their places.</summary>
    public List<SetAsideFrame> All { get { using (_gate.Enter()) return [.. _held.Values]; } }

    public int Count { get { using (_gate.Enter()) return _held.Count; } }

    public void BeginSession()
    {
        using (_gate.Enter()) _held.Clear();
    }

    public bool TryGet(MessagePlace place, [NotNullWhen(true)] out SetAsideFrame? message)
    {
        using (_gate.Enter()) return _held.TryGetValue(place, out message);
    }

    public void Take(SetAsideFrame message)
    {
        using (_gate.Enter())
        {
            _held[message.Message] = message;
            if (!message.IsUnlogged || message.Decision <= _taken) return;
            _taken = message.Decision;
            _unlogged.Enqueue(message);
        }
    }

    public void Take(ReleasedFrame released)
    {
        using (_gate.Enter()) _held.Remove(released.Message);
    }

    /// <summary>Logs the decisions that wait, in their order; false: the log has no room for all of them.</summary>
    public bool TryLog()
    {
        using (_gate.Enter())
        {
            while (_unlogged.TryPeek(out SetAsideFrame? next))
            {
                Crash.Hit("quarantine.beforeAppend");
                if (!Append(next.Message, QuarantineAction.SetAside)) return false;
                Crash.Hit("quarantine.afterAppend");
                _unlogged.Dequeue();
            }
            return true;
        }
    }

    /// <summary>Logs what an operator decided; false: there is no room now, or the decision before it is not logged yet.</summary>
    public bool TryDecide(MessagePlace place, QuarantineAction action) => TryLog() && Append(place, action);

    private bool Append(MessagePlace place, QuarantineAction action) =>
        log.TryAppend(new QuarantineRecord(place, action), out _);
}
