using Ambrosia.Coordinator.LogFeed;
using Ambrosia.Coordinator.Outboxes;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Checkpoints;
using Ambrosia.Protocol.Locking;
using Ambrosia.Protocol.Records;

namespace Ambrosia.Coordinator.Replay;

/// <summary>
/// Makes the digest of what the app has emitted up to each digest position, and logs it where this replica is primary. A digest names only
/// outboxes that were touched since the last one, so that it costs what was emitted and not what there is. The thread that reads the app,
/// but for <see cref="TryLog"/>, which any thread may call.
/// </summary>
internal sealed class DigestWriter(OutboxSet outboxes, LogAppender log, DigestTracker digests)
{
    /// <summary>These outboxes were emitted to since the last digest position.</summary>
    private readonly List<Outbox> _touched = [];
    private readonly List<DigestEntry> _changed = [];

    /// <summary>
    /// These digests are computed and not in the log. The queue is bounded by what one receive from the app can report, since the thread
    /// that reads the app waits until it is empty. It is its own lock.
    /// </summary>
    private readonly RankedLock _gate = new(LockRank.DigestWriter);
    private readonly Queue<DigestRecord> _toLog = new();

    /// <summary>The last digest position that the running session has passed.</summary>
    public Lsn Position { get; private set; }

    /// <summary>A session begins behind a checkpoint, or with nothing; outboxes stand where it says.</summary>
    public void BeginSession(CoordinatorPart? from)
    {
        Position = from?.DigestPosition ?? Lsn.Zero;
        List<Outbox> all = outboxes.InOrder();
        foreach (Outbox outbox in all) (outbox.DigestedCount, outbox.IsUndigested) = (0, false);
        _touched.Clear();
        if (from is not null)
            foreach (CheckpointDigestCount count in from.DigestCounts) outboxes.GetOrAdd(count.Destination).DigestedCount = count.Count;
        foreach (Outbox outbox in all)
            if (outbox.Emitted.Number != outbox.DigestedCount) Touch(outbox);
    }

    /// <summary>The app has emitted to this outbox.</summary>
    public void Touch(Outbox outbox)
    {
        if (outbox.IsUndigested) return;
        outbox.IsUndigested = true;
        _touched.Add(outbox);
    }

    /// <summary>The app stands at a digest position.</summary>
    /// <exception cref="Replica.DivergenceException">The log says otherwise.</exception>
    public void At(Lsn position)
    {
        _changed.Clear();
        _touched.Sort(static (a, b) => a.Destination.CompareTo(b.Destination));
        foreach (Outbox outbox in _touched)
        {
            outbox.IsUndigested = false;
            ChannelPosition emitted = outbox.Emitted;
            if (emitted.Number == outbox.DigestedCount) continue;
            _changed.Add(new DigestEntry(outbox.Destination, emitted.Number, emitted.Hash));
            outbox.DigestedCount = emitted.Number;
        }
        _touched.Clear();
        Position = position;
        var record = new DigestRecord(position, _changed.ToArray());
        if (!digests.Computed(record)) return;
        using (_gate.Enter()) _toLog.Enqueue(record);
        TryLog();
    }

    /// <summary>
    /// Logs the digests that found no room so far, in their order; false: some still wait. No position is left out while the process lives.
    /// </summary>
    public bool TryLog()
    {
        using (_gate.Enter())
        {
            while (_toLog.TryPeek(out DigestRecord? record))
            {
                if (!log.TryAppend(RecordKind.Digest, RecordKinds.Encode(record), out _)) return false;
                _toLog.Dequeue();
            }
            return true;
        }
    }
}
