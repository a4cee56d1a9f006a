using Ambrosia.Coordinator.LogFeed;
using Ambrosia.Coordinator.Outboxes;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Log.Format;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Checkpoints;
using Ambrosia.Protocol.Locking;
using Ambrosia.Protocol.Records;
using Ambrosia.Protocol.Runs;

namespace Ambrosia.Coordinator.Replay;

/// <summary>
/// Makes the digest of what the app has emitted up to each digest position, and logs it where this replica is primary. A digest names only
/// outboxes that were touched since the last one, so that it costs what was emitted and not what there is. While a receiver may yet say
/// that it has other calls, nothing is logged. The thread that reads the app, but where a member says otherwise.
/// </summary>
internal sealed class DigestWriter(OutboxSet outboxes, LogAppender log, DigestTracker digests)
{
    /// <summary>A log that has stood still for so long is digested, so that short logs are compared too (log-format L5.7).</summary>
    private static readonly TimeSpan s_quiet = TimeSpan.FromSeconds(1);

    /// <summary>The lock guards what follows, but not the answers, which the thread that reads the app counts.</summary>
    private readonly RankedLock _gate = new(LockRank.DigestWriter);

    /// <summary>These outboxes were emitted to since the last digest position.</summary>
    private readonly List<Outbox> _touched = [];

    /// <summary>
    /// These digests are computed and not in the log. The queue is bounded by what one receive from the app can report, since the thread
    /// that reads the app waits until it is empty.
    /// </summary>
    private readonly Queue<DigestRecord> _toLog = new();

    /// <summary>It counts the answers that stood in the last digest, or in the checkpoint that the session began with.</summary>
    private ulong _answersDigested;

    /// <summary>The last digest position that counts new answers, or new calls to others.</summary>
    private Lsn _lastOutputs;

    /// <summary>The log's tail, as the ticking thread has seen it last, and since when it has been there.</summary>
    private (Lsn At, TimeSpan Since) _still;

    /// <summary>The last digest position that the running session has passed.</summary>
    public Lsn Position { get; private set; }

    /// <summary>It counts what the running session has answered to callers outside, since the beginning of the log.</summary>
    public AnswerDigest Answers { get; private set; }

    /// <summary>A session begins behind a checkpoint, or with nothing; outboxes stand where it says.</summary>
    public void BeginSession(CoordinatorPart? from)
    {
        List<Outbox> all = outboxes.InOrder();
        foreach (Outbox outbox in all) (outbox.DigestedCount, outbox.IsUndigested) = (0, false);
        if (from is not null)
            foreach (CheckpointDigestCount count in from.DigestCounts) outboxes.GetOrAdd(count.Destination).DigestedCount = count.Count;
        using (_gate.Enter())
        {
            Position = from?.DigestPosition ?? Lsn.Zero;
            Answers = from?.Answers ?? default;
            _answersDigested = Answers.Count;
            _touched.Clear();
            _lastOutputs = Lsn.Zero;
        }
        foreach (Outbox outbox in all)
            if (outbox.Emitted.Number != outbox.DigestedCount) Touch(outbox);
    }

    /// <summary>The app has emitted to this outbox.</summary>
    public void Touch(Outbox outbox)
    {
        if (outbox.IsUndigested) return;
        outbox.IsUndigested = true;
        using (_gate.Enter()) _touched.Add(outbox);
    }

    /// <summary>The app has answered callers outside.</summary>
    public void Add(in RunView answers) => Answers = Answers.After(answers);

    /// <summary>The app stands at a digest position.</summary>
    /// <exception cref="Replica.DivergenceException">The log says otherwise.</exception>
    public void At(Lsn position)
    {
        DigestRecord record;
        Outbox self = outboxes.Self;
        using (_gate.Enter())
        {
            record = Make(position);
            bool isNew = record.Entries.Any(entry => entry.Destination != self.Destination) || Answers.Count != _answersDigested;
            if (isNew) _lastOutputs = position;
            foreach (Outbox outbox in _touched) (outbox.IsUndigested, outbox.DigestedCount) = (false, outbox.Emitted.Number);
            _touched.Clear();
            _answersDigested = Answers.Count;
            Position = position;
        }
        if (!digests.Computed(record) || outboxes.Unheard.AreAwaited) return;
        using (_gate.Enter()) _toLog.Enqueue(record);
        TryLog();
    }

    /// <summary>
    /// Logs the digests that found no room so far, in their order; false: some still wait. No position is left out once receivers were
    /// heard, while the process lives. Any thread.
    /// </summary>
    public bool TryLog()
    {
        using (_gate.Enter())
        {
            while (_toLog.TryPeek(out DigestRecord? record))
            {
                if (!log.TryAppend(record, out _)) return false;
                _toLog.Dequeue();
            }
            return true;
        }
    }

    /// <summary>
    /// All that the running session has called and answered so far was found to be the log's. The log itself holds the calls to oneself.
    /// Any thread.
    /// </summary>
    public bool AreOutputsConfirmed
    {
        get
        {
            Outbox self = outboxes.Self;
            using (_gate.Enter())
                if (_touched.Exists(outbox => outbox != self) || Answers.Count != _answersDigested) return false;
            return _lastOutputs <= digests.Confirmed;
        }
    }

    /// <summary>Looks where the log's tail stands; true: it has stood there for a second. The ticking thread.</summary>
    public bool IsStill(Lsn tail, TimeSpan now)
    {
        if (tail != _still.At) _still = (tail, now);
        return now - _still.Since >= s_quiet;
    }

    /// <summary>
    /// Logs a quiet digest at the end of the log, where the app has executed all of it; false: nothing has come since the last digest,
    /// something was appended meanwhile, or a receiver is awaited. At the record's place the app reports, as that of each reader of the log
    /// does, and is compared: only then is it digested here. Any thread.
    /// </summary>
    /// <param name="tail">The page begins here, if nothing is appended before it.</param>
    public bool TryLogQuiet(Lsn tail)
    {
        using (_gate.Enter())
        {
            if (outboxes.Unheard.AreAwaited || _toLog.Count > 0 || (_touched.Count == 0 && Answers.Count == _answersDigested)) return false;
            DigestRecord record = Make(tail + PageHeader.Bytes);
            bool isNew = record.Entries.Count > 0 || Answers.Count != _answersDigested;
            if (!isNew) return false;
            Crash.Hit("digest.beforeQuiet");
            if (!log.TryAppendAlone(tail, RecordKind.Digest, RecordKinds.Encode(record))) return false;
            Crash.Hit("digest.afterQuiet");
            return true;
        }
    }

    private DigestRecord Make(Lsn position)
    {
        _touched.Sort(static (a, b) => a.Destination.CompareTo(b.Destination));
        var changed = new List<DigestEntry>(_touched.Count);
        foreach (Outbox outbox in _touched)
        {
            ChannelPosition emitted = outbox.Emitted;
            if (emitted.Number != outbox.DigestedCount) changed.Add(new DigestEntry(outbox.Destination, emitted.Number, emitted.Hash));
        }
        return new DigestRecord(position, changed) { Answers = Answers };
    }
}
