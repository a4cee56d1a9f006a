using Ambrosia.Protocol;
using Ambrosia.Protocol.Locking;
using Microsoft.Extensions.Logging;

namespace Ambrosia.Coordinator.Outboxes;

/// <summary>
/// Tells links of outputs where several outboxes got something at once: one after another, on a thread of their own. What the app says to
/// one while the others have their turn goes with it, so that an app that speaks to many makes larger sends the more it says; load makes
/// the batch, nothing is held back. Owns who waits. Invariant: an outbox waits at most once. Adding: the thread that reads the
/// app. Telling: one thread.
/// </summary>
/// <param name="tell">Tells an outbox's link that there is something to send.</param>
internal sealed class OutputNotifier(Action<Outbox> tell)
{
    /// <summary>Fewer are told by whoever has read them, which saves an awaited call a change of threads.</summary>
    public const int OutboxesMin = 8;

    private readonly RankedLock _gate = new(LockRank.OutputNotifier);
    private List<Outbox> _waiting = [], _telling = [];

    /// <summary>Somebody waits. Any thread.</summary>
    public bool HasAny { get { using (_gate.Enter()) return _waiting.Count > 0; } }

    public void Add(HashSet<Outbox> outboxes)
    {
        using (_gate.Enter())
        {
            foreach (Outbox outbox in outboxes)
                if (outbox.TryJoinRound()) _waiting.Add(outbox);
        }
    }

    /// <summary>Tells all that wait now; false: nobody did.</summary>
    public bool TellAll()
    {
        using (_gate.Enter()) (_waiting, _telling) = (_telling, _waiting);
        if (_telling.Count == 0) return false;
        foreach (Outbox outbox in _telling)
        {
            outbox.LeaveRound(); // first: what comes from here on is told of again
            tell(outbox);
        }
        _telling.Clear();
        return true;
    }
}

/// <summary>Declares the events of outputs that have no room.</summary>
internal static partial class OutputEvents
{
    /// <summary>The app has waited for a second, because peers have not taken as much as may be kept.</summary>
    [LoggerMessage(EventId = 401, EventName = "output.waits.limit", Level = LogLevel.Warning,
        Message = "outputs wait: {Mebibytes} MiB on disk that peers have not taken, most of it for {Peer}, and more may not be kept. The app goes on when peers take some; one that is gone for good is given up with 'ambrosia forget-peer {Directory} NAME'")]
    public static partial void OutputsWaitByLimit(this ILogger logger, long mebibytes, InstanceId peer, string directory);

    /// <summary>The app has waited for a second, because the disk has no room for more outputs beside the log.</summary>
    [LoggerMessage(EventId = 402, EventName = "output.waits.disk", Level = LogLevel.Warning,
        Message = "outputs wait: the disk has no room beside the log for more than the {Mebibytes} MiB that peers have not taken, most of it for {Peer}. The app goes on when there is space in {Directory}, or when peers take some")]
    public static partial void OutputsWaitForDisk(this ILogger logger, long mebibytes, InstanceId peer, string directory);

    /// <summary>The wait is over.</summary>
    [LoggerMessage(EventId = 403, EventName = "output.resumed", Level = LogLevel.Information,
        Message = "outputs go on: there is room for them again")]
    public static partial void OutputsResumed(this ILogger logger);
}
