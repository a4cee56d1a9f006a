using Ambrosia.Log;
using Ambrosia.Protocol;

namespace Ambrosia.Coordinator;

/// <summary>
/// What an app session works with, and the decisions about sessions: one at a time, each from the newest checkpoint, primary when it has
/// executed all that was durable when it began. Any thread.
/// </summary>
internal sealed class AppParts
{
    private readonly Lock gate = new();
    private readonly List<DigestEntry> changed = [];

    /// <summary>Outboxes to which the app has emitted since the last digest position; of the thread that reads the app.</summary>
    private readonly List<Outbox> undigested = [];

    /// <summary>
    /// Computed and not yet in the log; bounded by what one receive from the app can report, since its reader then waits.
    /// </summary>
    private readonly Queue<DigestRecord> digestsToLog = new();
    private long emittedBytes; // grows, by the thread that reads the app
    private AppSession? live;
    private Lsn digested;
    private volatile bool isLeading;

    /// <summary>The log is ours to write.</summary>
    public bool IsLeading => isLeading;

    /// <summary>
    /// What was emitted below this is in the outboxes, or trimmed: no session of a primary begins beyond. Null: nothing was restored yet.
    /// </summary>
    private Lsn? reach;

    /// <summary><see cref="Progress"/> is that of the live session, and no longer that of the one before.</summary>
    private bool hasPlace;

    /// <summary>
    /// A checkpoint at or below this must stay, and the log behind it: the session that is live reads on from here, and the primary's next
    /// one could begin with no later checkpoint than its reach, which is no lower. Null: any will do. Any thread.
    /// </summary>
    public Lsn? NeededFrom
    {
        get
        {
            lock (gate) return reach is null || live is null ? reach : hasPlace ? Progress.Processed : Lsn.Zero;
        }
    }

    public required InstanceIdentity Identity { get; init; }

    public required string Replica { get; init; }

    /// <summary>The epoch in force: our own once we are primary, before that the one that this replica follows.</summary>
    public required Func<Epoch> EpochInForce { get; init; }

    public required uint MessageBytesMax { get; init; }

    public required ReadOnlyMemory<byte> Token { get; init; }

    public required BlockPool Pool { get; init; }

    public required OutboxSet Outboxes { get; init; }

    public required ReplicaLog Replicated { get; init; }

    public required LogAppender Log { get; init; }

    public required SelfChannel SelfChannel { get; init; }

    public required ProgressBook Progress { get; init; }

    public required DigestBook Digests { get; init; }

    public required Delivery Delivery { get; init; }

    public required Recovery Recovery { get; init; }

    public required CheckpointDuty CheckpointDuty { get; init; }

    /// <summary>What the running session's app waits for.</summary>
    public PendingTimers Timers { get; } = new();

    /// <summary>The first timer due is another one, or timers may fire now.</summary>
    public required Action TimersChanged { get; init; }

    public required QuarantineBook Quarantine { get; init; }

    public required Action<string> Say { get; init; }

    /// <summary>An outbox has something to send.</summary>
    public required Action<Outbox> HasOutput { get; init; }

    /// <summary>Several outboxes have something to send.</summary>
    public required Action<HashSet<Outbox>> HaveOutput { get; init; }

    public required Action<bool> Committer { get; init; }

    /// <summary>A session has become primary.</summary>
    public required Action<AppSession> BecamePrimary { get; init; }

    /// <summary>The receiver was forgotten, and so many calls to it that it is not known to have.</summary>
    public required Action<Outbox, ulong> Forgotten { get; init; }

    /// <summary>True while peers may be reached: only then does a full outbox make the app wait.</summary>
    public required Func<bool> LinksAreOpen { get; init; }

    /// <summary>What callers outside ask of the app's state.</summary>
    public required QueryBook Queries { get; init; }

    /// <summary>This peer is being given up, and the app has not come to that place of the log.</summary>
    public required Func<InstanceId, bool> IsLeaving { get; init; }

    /// <summary>Hears of each run whether it has to wait for room.</summary>
    public required OutputWait OutputWait { get; init; }

    /// <summary>The app has answered callers outside.</summary>
    public required TakeAnswers Answered { get; init; }

    /// <summary>Null but for a replica that has diverged and executes a stretch again.</summary>
    public Retrial? Retrial { get; init; }

    public CheckpointTaker Checkpoints { get; set; } = null!;

    /// <summary>What a replay would make again counts for checkpoints. Any thread.</summary>
    public EmittedBytes Outputs => new(Volatile.Read(ref emittedBytes), Outboxes.SpilledBytes);

    /// <summary>The session that is primary, or on its way.</summary>
    public AppSession? Live { get { lock (gate) return live; } }

    /// <summary>Last digest position that the running session has passed.</summary>
    public Lsn Digested => digested;

    /// <summary>This replica has the log: its session, now or the next, becomes primary behind all that was durable then.</summary>
    public void Lead()
    {
        Digests.LogFrom(Replicated.Durable);
        isLeading = true;
        Live?.Lead(Replicated.Durable);
    }

    /// <summary>
    /// No room for a run of so many bytes. What the app has reported stands behind the run that waits, so room must come without it: from
    /// what peers have acknowledged, and from those who are given up. The limit is for a primary; where the disk ends, everybody waits.
    /// </summary>
    public bool MustWait(Outbox outbox, int runBytes)
    {
        if (Outboxes.HasMemory || outbox == Outboxes.Self) return OutputWait.Note(false); // what is for itself waits for its own log
        bool isLimited = LinksAreOpen();
        if (Outboxes.HasDiskFor(outbox, runBytes, isLimited)) return OutputWait.Note(false);
        Outboxes.MakeRoom(IsLeaving);
        return OutputWait.Note(!Outboxes.HasMemory && !Outboxes.HasDiskFor(outbox, runBytes, isLimited));
    }

    public void WakeCommitter(bool drained)
    {
        if (Log.TakeWake()) Committer(drained);
    }

    /// <summary>
    /// Makes the session the instance's, if there is none. False: <paramref name="why"/> not; null: not yet, since more of
    /// the log must be read first.
    /// </summary>
    public bool TryBegin(AppSession session, AppHello hello, out string? why)
    {
        lock (gate)
        {
            why = live is null ? null : $"session {live.Number} is live; one app at a time";
            if (why is not null) return false;
            live = session;
        }
        Lsn durable = Replicated.Durable;
        FoundCheckpoint? checkpoint;
        try
        {
            checkpoint = FindStart(durable);
        }
        catch (LogUnreadException)
        {
            lock (gate) live = null;
            return false;
        }
        CheckpointHeader? header = checkpoint?.Header;
        if (header is not null && header.AppVersion > hello.AppVersion)
        {
            why = $"the checkpoint was made by app version {header.AppVersion}, this app is {hello.AppVersion}: start the newer one";
            lock (gate) live = null;
            checkpoint!.Dispose();
            return false;
        }
        DeliveredState state = DeliveredState.From(checkpoint?.Part);
        Outboxes.BeginSession(Recovery.Positions(checkpoint), state.Generations);
        Digests.BeginSession(header?.Lsn ?? Lsn.Zero);
        Timers.Clear();
        Quarantine.BeginSession();
        digested = checkpoint?.Part.DigestPosition ?? Lsn.Zero;
        RestoreDigestCounts(checkpoint?.Part);
        Progress.Begin(header?.Lsn ?? Lsn.Zero, header?.PageLsn ?? Lsn.Zero);
        lock (gate) hasPlace = live == session;
        Epoch epoch = EpochInForce();
        Delivery.Marks.Begin(epoch, Replica);
        Delivery.Begin(header?.PageLsn ?? Lsn.Zero, header?.Lsn ?? Lsn.Zero, state, digested, durable);
        var welcome = new AppWelcome(1, new InstanceId(Identity.Name, Identity.Shard), Replica, Identity.Uuid, epoch, session.Number,
            state.Policy.MessageBytesMax, header?.Lsn ?? Lsn.Zero, checkpoint is not null);
        CheckpointImage? image = checkpoint is null ? null : new CheckpointImage(checkpoint.Reader, header!.Lsn, header.ImageVersion);
        session.Begin(welcome, image);
        if (isLeading) session.Lead(Replicated.Durable);
        return true;
    }

    /// <summary>
    /// The checkpoint that a session begins with. A secondary takes the newest there is, outboxes and all: it has sent nothing. A primary
    /// keeps its outboxes, so it begins no later than where they reach; another replica's checkpoint may be ahead of its own app.
    /// </summary>
    private FoundCheckpoint? FindStart(Lsn durable)
    {
        if (isLeading && reach is { } reached) return Recovery.Newest(reached);
        return Restore(durable);
    }

    /// <summary>
    /// Makes the outboxes what the newest checkpoint says of them, before anything of them is sent; null: there is
    /// none, and the log is whole.
    /// </summary>
    public FoundCheckpoint? Restore(Lsn durable)
    {
        Outboxes.Clear();
        FoundCheckpoint? checkpoint = Recovery.Newest(Retrial?.From ?? durable, mayReadOn: !isLeading && Retrial is null);
        lock (gate) reach = checkpoint?.Header.Lsn ?? Lsn.Zero;
        if (checkpoint is not null) Ambrosia.Coordinator.Recovery.RestoreOutboxes(checkpoint, Outboxes, Pool);
        return checkpoint;
    }

    private void RestoreDigestCounts(CoordinatorPart? part)
    {
        List<Outbox> all = Outboxes.InOrder();
        foreach (Outbox outbox in all) (outbox.DigestedCount, outbox.IsUndigested) = (0, false);
        undigested.Clear();
        if (part is not null)
            foreach (CheckpointDigestCount count in part.DigestCounts) Outboxes.GetOrAdd(count.Destination).DigestedCount = count.Count;
        foreach (Outbox outbox in all)
            if (outbox.Emitted.Number != outbox.DigestedCount) Touch(outbox);
    }

    /// <summary>The app has emitted a run of so many bytes to this destination.</summary>
    public void Emitted(Outbox outbox, int bytes)
    {
        Volatile.Write(ref emittedBytes, emittedBytes + bytes);
        Touch(outbox);
    }

    /// <summary>So that a digest costs what was touched since the last one, not what there is.</summary>
    private void Touch(Outbox outbox)
    {
        if (outbox.IsUndigested) return;
        outbox.IsUndigested = true;
        undigested.Add(outbox);
    }

    /// <summary>The app stands where the log forgets whom this outbox is for.</summary>
    public void Cut(Outbox outbox)
    {
        Crash.Hit("forget.before");
        ulong? dropped = outbox.Cut();
        outbox.DigestedCount = 0;
        if (dropped is { } calls) Forgotten(outbox, calls);
        Crash.Hit("forget.after");
    }

    /// <summary>The app stands at a digest position.</summary>
    public void DigestAt(Lsn position)
    {
        changed.Clear();
        undigested.Sort(static (a, b) => a.Destination.CompareTo(b.Destination));
        foreach (Outbox outbox in undigested)
        {
            outbox.IsUndigested = false;
            ChannelPosition emitted = outbox.Emitted;
            if (emitted.Number == outbox.DigestedCount) continue;
            changed.Add(new DigestEntry(outbox.Destination, emitted.Number, emitted.Hash));
            outbox.DigestedCount = emitted.Number;
        }
        undigested.Clear();
        digested = position;
        var record = new DigestRecord(position, changed.ToArray());
        if (!Digests.Computed(record)) return;
        lock (digestsToLog) digestsToLog.Enqueue(record);
        TryLogDigests();
    }

    /// <summary>
    /// Logs the digests that found no room so far, in their order; false: some still wait. No position is left out while the process lives.
    /// </summary>
    public bool TryLogDigests()
    {
        lock (digestsToLog)
        {
            while (digestsToLog.TryPeek(out DigestRecord? record))
            {
                if (!Log.TryAppend(RecordKind.Digest, RecordKinds.Encode(record), out _)) return false;
                digestsToLog.Dequeue();
            }
            return true;
        }
    }

    public void Ended(AppSession session)
    {
        lock (gate)
        {
            if (live != session) return;
            if (reach is { } reached) reach = Lsn.Max(reached, Progress.Processed);
            live = null;
            hasPlace = false;
        }
        Queries.AppEnded();
        Checkpoints.SessionEnded();
        CheckpointDuty.SessionEnded();
    }
}

/// <summary>Takes a run of answers to callers outside (protocol P10.6).</summary>
internal delegate void TakeAnswers(in RunView run);
