using System.Diagnostics.CodeAnalysis;
using Ambrosia.Protocol;

namespace Ambrosia.Coordinator;

/// <summary>
/// What the running session's app says of the messages that it has set aside, and the decisions of a primary's app that the log does not
/// hold yet. The app owns the messages; this is what operators are shown. Bounded by the app's own bound (log-format L5.12). Any thread.
/// </summary>
internal sealed class QuarantineBook(LogAppender log)
{
    private readonly Lock gate = new();
    private readonly SortedDictionary<MessagePlace, SetAside> held = [];

    /// <summary>To be logged, in their order; the app's reader waits while there are any.</summary>
    private readonly Queue<SetAside> unlogged = new();

    /// <summary>
    /// The last decision that was put into <see cref="unlogged"/> by this process: another session of the app says it again.
    /// </summary>
    private ulong taken;

    /// <summary>In the order of their places.</summary>
    public List<SetAside> All { get { lock (gate) return [.. held.Values]; } }

    public void BeginSession()
    {
        lock (gate) held.Clear();
    }

    public bool TryGet(MessagePlace place, [NotNullWhen(true)] out SetAside? message)
    {
        lock (gate) return held.TryGetValue(place, out message);
    }

    public void Take(SetAside message)
    {
        lock (gate)
        {
            held[message.Message] = message;
            if (!message.IsUnlogged || message.Decision <= taken) return;
            taken = message.Decision;
            unlogged.Enqueue(message);
        }
    }

    public void Take(Released released)
    {
        lock (gate) held.Remove(released.Message);
    }

    /// <summary>Logs the decisions that wait, in their order; false: the log has no room for all of them.</summary>
    public bool TryLog()
    {
        lock (gate)
        {
            while (unlogged.TryPeek(out SetAside? next))
            {
                Crash.Hit("quarantine.beforeAppend");
                if (!Append(next.Message, QuarantineAction.SetAside)) return false;
                Crash.Hit("quarantine.afterAppend");
                unlogged.Dequeue();
            }
            return true;
        }
    }

    /// <summary>Logs what an operator decided; false: there is no room now, or the decision before it is not logged yet.</summary>
    public bool TryDecide(MessagePlace place, QuarantineAction action) => TryLog() && Append(place, action);

    private bool Append(MessagePlace place, QuarantineAction action) =>
        log.TryAppend(RecordKind.Quarantine, RecordKinds.Encode(new QuarantineRecord(place, action)), out _);
}
