using Ambrosia.Log;
using Ambrosia.Protocol;
using CRA;

namespace Ambrosia.Coordinator;

/// <summary>
/// One replica: builds the parts, connects them, and nothing else. It begins as a secondary, which follows the log, and becomes primary by
/// <see cref="Lead"/>, at once or later; never back. Parts never wait; pumps (Pumps/, or the simulator's) feed
/// them. The road of a call: App/AppReader → Outbound/Outbox → Outbound/OutboundLink → Inbound/InboundRuns → the log's page →
/// Commit/Committer → Delivery/Delivery → the app, and back by Outbound/TrimBook.
/// </summary>
internal sealed class Coordinator : IDisposable
{
    /// <summary>Of few calls, for which nobody waits (protocol P6.8). Each costs a send here and a wake-up there.</summary>
    private static readonly TimeSpan lateAcksEvery = TimeSpan.FromMilliseconds(100);

    private readonly CoordinatorInputs inputs;
    private readonly BlockPool pool = new();
    private readonly ScratchFile scratch;
    private readonly OutboxSet outboxes;
    private readonly InputLedger ledger;
    private readonly LogAppender appender;
    private readonly SelfChannel selfChannel;
    private readonly QuarantineBook quarantine;
    private readonly LinkTable table;
    private readonly TrimBook trims = new();
    private readonly LinkParts links;
    private readonly ClientTable callers = new();
    private readonly ClientParts clients;
    private readonly QueryBook queries;
    private readonly AppParts app;
    private readonly CheckpointDuty duty;
    private readonly CheckpointRound round;
    private readonly TimerDuty timers;
    private readonly PublishedCheckpoints published;
    private readonly StateBook states;
    private readonly List<PeerLink> owed = [];
    private readonly Admission admission;
    private readonly OutputRound outputs;
    private long latelyAcked;
    private readonly ReplicaLog log;
    private readonly LogChain chain;
    private readonly LogFollower? follower;
    private PrimaryDuties? asPrimary;
    private ulong sessions;

    /// <summary>A replica that is primary from its start.</summary>
    public Coordinator(CoordinatorInputs inputs, Leadership leadership)
        : this(inputs, ReplicaLog.Of(leadership.Log.Writer), leadership.Log.Chain, leadership.Log.Writer.DigestEvery)
    {
        PrimaryDuties own = BeginTenure(leadership);
        own.Open();
        app.Lead();
        Recover();
    }

    /// <summary>A secondary.</summary>
    /// <param name="follower">The caller steps it; it has read the log's head.</param>
    public Coordinator(CoordinatorInputs inputs, LogFollower follower)
        : this(inputs, ReplicaLog.Of(follower), follower.Chain,
            follower.DigestEvery ?? throw new ArgumentException("the log has no segment yet")) => this.follower = follower;

    private Coordinator(CoordinatorInputs inputs, ReplicaLog log, LogChain chain, ulong digestEvery)
    {
        this.inputs = inputs;
        this.log = log;
        this.chain = chain;
        Self = new InstanceId(inputs.Identity.Name, inputs.Identity.Shard);
        CoordinatorOptions options = inputs.Options;
        uint messageBytesMax = options.MessageBytesMax;

        scratch = new ScratchFile(inputs.Files, Path.Combine(options.LogDirectory, $"scratch.{options.Replica}"), options.ScratchBytes,
            bytesLeft: 2 * options.Log.SegmentBytes);
        scratch.RemoveLeftover();
        outboxes = new OutboxSet(Self, scratch, new MemoryBound(pool, (int)Math.Max(4, options.OutboxBytes / BlockPool.BlockBytes)));
        OutputWait = new OutputWait(outboxes, options.LogDirectory, inputs.Time, inputs.Pumps.Say);
        ledger = new InputLedger(Self);
        appender = new LogAppender(log, options.Log.PageBytes - PageHeader.Bytes);
        quarantine = new QuarantineBook(appender);
        selfChannel = new SelfChannel(outboxes.Self, ledger, appender);
        table = new LinkTable(Self, () => new Backoff(inputs.Random));
        admission = new Admission(table, ledger, outboxes, selfChannel, appender, inputs.Pumps);
        outputs = new OutputRound(admission.HasOutput);
        duty = new CheckpointDuty(options.CheckpointEveryBytes, options.CheckpointInterval);
        states = new StateBook(inputs.Files, options.LogDirectory, inputs.Identity, options.Replica);
        queries = new QueryBook(inputs.Time, () => log.Durable);
        links = BuildLinks(messageBytesMax);
        clients = BuildClients(messageBytesMax);
        app = BuildApp(messageBytesMax, digestEvery);
        timers = new TimerDuty(app.Timers, appender, inputs.Time);
        var rota = new CheckpointRota(options.Replica);
        published = new PublishedCheckpoints(inputs, log, outboxes, app.Delivery, duty, rota,
            header => asPrimary?.Retention.WasVerified(header), () => Checkpoints!.Truncate());
        Checkpoints = app.Checkpoints = BuildCheckpoints();
        round = new CheckpointRound(inputs.Files, options, duty, rota, appender, Checkpoints.Adopt, inputs.Pumps.Say);
    }

    /// <summary>
    /// This replica has claimed the epoch and taken the log over: its app goes on where it stands and becomes primary behind the tail.
    /// One thread, once.
    /// </summary>
    public void Lead(Leadership leadership)
    {
        if (leadership.Log.Chain != chain)
            throw new ArgumentException("the log was taken over without the chain that this replica follows");
        PrimaryDuties own = BeginTenure(leadership);
        log.Lead(leadership.Log.Writer);
        own.Open();
        app.Delivery.StopHolding(); // who truncates now is ourselves, below what our app has executed
        if (leadership.Log.Checkpoints is [var newest, ..]) duty.Found(newest, inputs.Time.GetUtcNow());
        app.Lead();
    }

    private PrimaryDuties BeginTenure(Leadership leadership)
    {
        asPrimary = new PrimaryDuties(inputs, leadership, chain, appender, () => app.NeededFrom, DurableAdvanced);
        ledger.Self.Epoch = links.OwnEpoch = asPrimary.Tenure.Epoch;
        return asPrimary;
    }

    public InstanceId Self { get; }

    /// <summary>Of a primary.</summary>
    public Committer Committer => asPrimary?.Committer ?? throw new InvalidOperationException("a secondary commits nothing (I10)");

    public CheckpointTaker Checkpoints { get; }

    /// <summary>Of a primary.</summary>
    public LogWriter Log => log.Writer;

    /// <summary>The epoch in force: our own, or that of the primary that we follow.</summary>
    public Epoch Epoch => asPrimary?.Tenure.Epoch ?? follower!.Epoch;

    /// <summary>The log is ours to write; false: a secondary.</summary>
    public bool HasLog => log.IsWritten;

    /// <summary>Whether the app waits because its outputs have no room.</summary>
    public OutputWait OutputWait { get; }

    /// <summary>A secondary whose app has executed all that is stated as durable.</summary>
    public bool IsCaughtUp => app.Live is { HasBegun: true } && app.Delivery.Next >= log.Durable && app.Progress.IsDry;

    /// <summary>
    /// Log bytes that are stated as durable, and that the app is not known to have executed; all of them while there is no app.
    /// </summary>
    public ulong Lag =>
        log.Durable.Value - (app.Live is { HasBegun: true } ? Math.Min(log.Durable.Value, app.Progress.Processed.Value) : 0);

    /// <summary>A secondary has read on: there may be more to execute, a checkpoint to name, or one of others to compare with.</summary>
    public void Followed()
    {
        app.Live?.Wake();
        if (Checkpoints.HasWork) inputs.Pumps.CheckpointWork();
    }

    /// <summary>Compares this replica's state with checkpoints of others; of the thread that writes checkpoints.</summary>
    /// <exception cref="DivergenceException">Exit 70.</exception>
    public void CompareStates()
    {
        if (!log.IsWritten) states.Compare();
    }

    /// <summary>Where this replica's app has made other calls than the log's; null: nowhere.</summary>
    public DivergedStretch? Diverged => app.Digests.Diverged;

    /// <summary>Up to here the app's calls were found to be the log's.</summary>
    public Lsn Agreed => app.Digests.Confirmed;

    /// <summary>The first calls that differ, of those that are still held. Of a replica whose session has ended.</summary>
    public List<string> LookAtCalls(DivergedStretch stretch, History history) => FirstLook.At(outboxes, stretch, history);

    /// <summary>Who is called by this name, as the log says; null: it knows nobody. Of a replica whose session has ended.</summary>
    public Guid? UuidOf(InstanceId peer) =>
        app.Delivery.State.Peers.LastOrDefault(known => known.Peer == peer && !DeliveredState.IsForgotten(known))?.Uuid;

    /// <summary>This secondary has diverged: what it published since it last agreed is taken back. Called on the way out.</summary>
    public void RemoveDoubtful()
    {
        if (log.IsWritten) return;
        Checkpoints.Forbid();
        published.RemoveDoubtful(app.Digests.Confirmed);
    }

    /// <summary>What may be executed: the log's durable end as this replica knows it.</summary>
    public Lsn Durable => log.Durable;

    /// <summary>What callers outside ask of the state.</summary>
    public QueryBook Queries => queries;

    /// <summary>Links are open and impulses admitted.</summary>
    public bool IsPrimary => admission.IsOpen;

    public AppSession? Session => app.Live;

    private LinkParts BuildLinks(uint messageBytesMax) => new()
    {
        Self = Self,
        Identity = inputs.Identity,
        Replica = inputs.Options.Replica,
        MessageBytesMax = messageBytesMax,
        Log = appender,
        Ledger = ledger,
        Outboxes = outboxes,
        Table = table,
        Trims = trims,
        Time = inputs.Time,
        Lines = new PeerLines(inputs.Pumps.Say, inputs.Time),
        ImpulsesLogged = ImpulsesLogged,
        Committer = inputs.Pumps.Commit,
        Room = inputs.Pumps.WaitForRoom,
        Dial = inputs.Pumps.Dial,
        Fail = inputs.Pumps.Fail,
        MayEmit = MayEmit,
    };

    private ClientParts BuildClients(uint messageBytesMax) => new()
    {
        Self = Self,
        Uuid = inputs.Identity.Uuid,
        Replica = inputs.Options.Replica,
        Epoch = () => Epoch,
        MessageBytesMax = messageBytesMax,
        Log = appender,
        Table = callers,
        Lag = () => Lag,
        MayAnswer = () => asPrimary?.Tenure.IsFresh ?? true,
        IsPrimary = () => admission.IsOpen,
        Queries = queries,
        Delivered = () => app!.Progress.DeliveredTo,
        WakeApp = () => app!.Live?.Wake(),
        Committer = inputs.Pumps.Commit,
        Room = inputs.Pumps.WaitForRoom,
        Lines = links.Lines,
    };

    /// <summary>The transport's question before each send.</summary>
    private bool MayEmit() => (asPrimary ?? throw new InvalidOperationException("a secondary emits nothing (I10)")).Tenure.IsFresh;

    private AppParts BuildApp(uint messageBytesMax, ulong digestEvery)
    {
        var progress = new ProgressBook();
        var digests = new DigestBook(null);
        return new AppParts
        {
            Identity = inputs.Identity,
            Replica = inputs.Options.Replica,
            EpochInForce = () => Epoch,
            MessageBytesMax = messageBytesMax,
            Token = inputs.AppToken,
            Pool = pool,
            Outboxes = outboxes,
            Replicated = log,
            Log = appender,
            SelfChannel = selfChannel,
            Progress = progress,
            Digests = digests,
            Delivery = new Delivery(log, NewReader(holds: !log.IsWritten), new PolicyOutlook(NewReader), digestEvery, progress, digests,
                outboxes) { OneByOne = inputs.Retrial is not null },
            Retrial = inputs.Retrial,
            Recovery = new Recovery(inputs.Files, inputs.Options.LogDirectory, inputs.Identity, chain, inputs.Pumps.Say),
            CheckpointDuty = duty,
            TimersChanged = inputs.Pumps.TimersChanged,
            Quarantine = quarantine,
            Say = inputs.Pumps.Say,
            HasOutput = admission.HasOutput,
            HaveOutput = HaveOutput,
            Committer = inputs.Pumps.Commit,
            BecamePrimary = BecamePrimary,
            Forgotten = admission.Forgotten,
            LinksAreOpen = () => admission.IsOpen,
            Queries = queries,
            OutputWait = OutputWait,
            IsLeaving = peer => ledger.Find(peer) is { IsLeaving: true },
            Answered = (in RunView run) => callers.Answer(run, Epoch),
        };
    }

    private CheckpointTaker BuildCheckpoints()
    {
        var snapshot = new CheckpointSnapshot(
            inputs.Identity, inputs.Options.Replica, () => log.AppVersion, app, NewReader, inputs.Time);
        var memory = new CheckpointMemory();
        return new CheckpointTaker(new CheckpointParts(
            snapshot.Take, snapshot.Forget,
            header => new CheckpointWriter(inputs.Files, inputs.Options.LogDirectory, inputs.Identity, header, Crash.Points, memory),
            () => log.Stated, published.Published, header => asPrimary?.Retention.Run(header), published.Failed, states.Computed,
            inputs.Pumps.CheckpointWork, inputs.Pumps.RoomForApp));
    }

    private LogReader NewReader() => NewReader(holds: false);

    private LogReader NewReader(bool holds) => new(inputs.Files, inputs.Options.LogDirectory, inputs.Identity, chain, holds);

    /// <summary>Restores what the newest checkpoint says of outputs.</summary>
    private void Recover()
    {
        using FoundCheckpoint? checkpoint = app.Restore(Log.Durable);
        if (checkpoint is not null)
            duty.Found(checkpoint.Header.FileName, DateTimeOffset.UnixEpoch.AddMicroseconds(checkpoint.Header.TimeMicros));
    }

    /// <summary>A connection of the app; its pump drives it.</summary>
    public AppSession NewSession(Action wakeSender) => new(app, Interlocked.Increment(ref sessions), wakeSender);

    /// <summary>A connection to a peer; null while none are taken.</summary>
    /// <param name="expected">Whom we dialled; null: it came in.</param>
    public PeerLink? NewLink(InstanceId? expected, uint seed, string remote) =>
        !admission.IsOpen ? null : new PeerLink(links, expected, seed, expected is { } peer ? table.NextNonce(peer) : 0, remote);

    /// <summary>The session of a caller outside on a connection that came in.</summary>
    public ClientSession NewCaller(uint seed, string remote) => new(clients, seed, remote);

    // ---- what happens ----

    private void HaveOutput(HashSet<Outbox> outboxes)
    {
        outputs.Add(outboxes);
        inputs.Pumps.OutputsWait();
    }

    /// <summary>Outputs for several peers wait.</summary>
    public bool HasOutputs => outputs.HasAny;

    /// <summary>Tells the links of those for whom outputs wait; false: there were none. One thread.</summary>
    public bool TellOutputs() => outputs.TellAll();

    /// <summary>After each commit (step 8): who waits for it is told.</summary>
    private void DurableAdvanced(Lsn durable)
    {
        owed.Clear();
        ledger.AdvanceDurable(durable, owed, out bool selfMoved);
        if (selfMoved) ImpulsesLogged(outboxes.Self, outboxes.Self.ImpulsesDurable(OwnImpulses()));
        app.Live?.Wake(); // first: somebody may await an answer, and nobody an acknowledgement
        foreach (PeerLink link in owed) link.DurableAdvanced();
        links.Awaiting.Wake();
        callers.DurableAdvanced();
        asPrimary!.Tenure.Committed();
        inputs.Pumps.RoomForApp();
        if (Checkpoints.HasWork) inputs.Pumps.CheckpointWork();
    }

    private ulong OwnImpulses()
    {
        InputPosition durable = ledger.DurableOf(ledger.Self);
        return durable.ImpulseEpoch == Epoch ? durable.Impulses : 0;
    }

    private void ImpulsesLogged(Outbox outbox, ulong ticket)
    {
        if (ticket > 0 && app.Live is { HasBegun: true } session && outboxes.TryIndexOf(outbox, out uint index))
            session.Send(new ImpulseLogged(index, ticket));
    }

    /// <summary>The app has executed all that was durable: the first time in this epoch, the world is let in.</summary>
    private void BecamePrimary(AppSession session)
    {
        if (!admission.IsOpen)
        {
            admission.Open(app.Delivery.State);
            Checkpoints.Truncate(); // what a process that was killed meant to remove
        }
        Primary?.Invoke(session);
        inputs.Pumps.Dial();
    }

    /// <summary>A session is primary; the process says that it is ready.</summary>
    public event Action<AppSession>? Primary;

    /// <summary>Whatever is due by time: trims, marks, a checkpoint, the idle fence check. Called a few times a second.</summary>
    /// <param name="isQuiet">Nothing was appended since the last tick.</param>
    public void Tick(bool isQuiet)
    {
        if (asPrimary is null) return;
        asPrimary.Tenure.BeatSoon();
        if (inputs.Time.GetElapsedTime(latelyAcked) >= lateAcksEvery)
        {
            links.LateAcks.Release();
            latelyAcked = inputs.Time.GetTimestamp();
        }
        DateTimeOffset now = inputs.Time.GetUtcNow();
        app.TryLogDigests();
        quarantine.TryLog();
        bool appended = appender.TakeWake();
        appended |= asPrimary.TryStateOwedPolicy();
        while (trims.Due(now) is { } trim)
        {
            if (!appender.TryAppend(RecordKind.Trim, RecordKinds.Encode(trim), out _)) { trims.GiveBack(trim, now); break; }
            appended = true;
        }
        appended |= round.Tick(Epoch, Log.Durable, app.Outputs, now, mayMark: IsPrimary && app.Live is { IsPrimary: true });
        if (asPrimary.Retention.IsDue(now)) Checkpoints.Truncate();
        if (!appended && isQuiet && Log.MarkDue) appended = Log.AppendMark();
        if (appended) inputs.Pumps.Commit(true);
    }

    /// <summary>
    /// Logs the timers that are due, of a primary; returns for how long there is nothing to do unless the pumps are told otherwise.
    /// </summary>
    public TimeSpan FireTimers()
    {
        if (asPrimary is null || app.Live is not { IsPrimary: true }) return Timeout.InfiniteTimeSpan;
        TimeSpan next = timers.Fire();
        if (appender.TakeWake()) inputs.Pumps.Commit(true);
        return next;
    }

    /// <summary>Asks for a checkpoint as soon as one can be taken.</summary>
    public void RequestCheckpoint() => duty.Request(Log.Durable);

    /// <summary>What this coordinator tells and does for its operator (protocol P9).</summary>
    public void AddCommands(AdminCommands to)
    {
        var report = new StatusReport(inputs, log, chain, () => Epoch, table, outboxes, app, callers);
        to.Set("status", _ => new AdminAnswer(report.Make()));
        to.Set("forget-peer", admission.ForgetPeer);
        to.Set("quarantine", request => QuarantineCommand.Begin(
            request, quarantine, IsPrimary, () => app.Live is { IsPrimary: true }, () => app.WakeCommitter(drained: true)));
        to.Set("checkpoint", _ => CheckpointCommand.Begin(duty, log.Durable, app.Live is { IsPrimary: true }));
    }

    /// <summary>
    /// A follower keeps the segment that its app reads from being truncated, but not while the app stands still. Called every few seconds.
    /// </summary>
    public void LetGoOfLog() => app.Delivery.LetGoIfIdle();

    /// <summary>An idle primary looks whether it still is one.</summary>
    public void CheckFence()
    {
        if (asPrimary is not { } own || !own.Tenure.Check(mayBeat: !own.Committer.IsUnderWay)) return;
        foreach (PeerLink link in Links()) link.Wake(); // they were silent until now
    }

    /// <summary>
    /// Peers to call now: known ones and those for whom there is output. What came of each is told by <see cref="Dialled"/>.
    /// </summary>
    public List<InstanceId> PeersToDial() => table.PeersToDial(inputs.Time.GetUtcNow());

    /// <summary>Some are to be called, now or later.</summary>
    public bool HasPeersToDial => table.HasUnconnected;

    /// <summary>Records delivered to the running session.</summary>
    public long Delivered => app.Delivery.Records;

    /// <summary>Records below this have been executed by the running, or the last, session.</summary>
    public Lsn Executed => app.Progress.Processed;

    /// <summary>A checkpoint was asked for, or is on its way.</summary>
    public bool IsCheckpointDue => duty.IsDue;

    /// <summary>A call to a peer is over; true: its trouble is worth a line.</summary>
    public bool Dialled(InstanceId peer, TimeSpan took, DialTrouble? trouble) => table.Dialled(peer, took, trouble);

    public List<PeerLink> Links() => table.All();

    public void Dispose()
    {
        Checkpoints.Dispose();
        app.Delivery.Dispose();
        scratch.Dispose();
        if (log.IsWritten) Log.Dispose();
        follower?.Dispose();
    }
}
