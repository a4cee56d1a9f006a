using Ambrosia.Coordinator.Admin;
using Ambrosia.Coordinator.AppSessions;
using Ambrosia.Coordinator.Builds;
using Ambrosia.Coordinator.Checkpoints;
using Ambrosia.Coordinator.Clients;
using Ambrosia.Coordinator.Divergence;
using Ambrosia.Coordinator.Inbox;
using Ambrosia.Coordinator.Links;
using Ambrosia.Coordinator.LogFeed;
using Ambrosia.Coordinator.Outboxes;
using Ambrosia.Coordinator.Primary;
using Ambrosia.Coordinator.Quarantine;
using Ambrosia.Coordinator.Replay;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Coordinator.Upgrades;
using Ambrosia.Coordinator.Views;
using Ambrosia.Log.Checkpoints;
using Ambrosia.Log.Commit;
using Ambrosia.Log.Fencing;
using Ambrosia.Log.Format;
using Ambrosia.Log.Reading;
using Ambrosia.Log.Segments;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Locking;

namespace Ambrosia.Coordinator;

/// <summary>
/// Connects the modules of one replica, and decides nothing. A replica begins as a secondary, which follows the log, and becomes primary by
/// <see cref="BecomePrimary"/>, at once or later; never back. Parts never wait; pumps (those of Hosting, or the simulator's) feed them.
/// docs/walks/call.md follows a call through the modules.
/// </summary>
internal sealed class Coordinator : IClientReplica, ISessionObserver, IDisposable
{
    /// <summary>So much may be left to execute when an upgrade shuts the log's doors: under load there is always some.</summary>
    private const ulong LagOfSwitchMax = 4 << 20;

    private readonly CoordinatorInputs _inputs;
    private readonly ReplicaLog _log;
    private readonly LogChain _chain;
    private readonly LogFollower? _follower;
    private readonly LogAppender _appender;
    private readonly DedupTable _dedup;
    private readonly QuarantineJournal _quarantine;
    private readonly AppControl _control;
    private readonly AppOutputs _emissions;
    private readonly AppTimers _timers;
    private PrimaryRole? _asPrimary;
    private ulong _sessions;

    /// <summary>Makes a replica that is primary from its start.</summary>
    public Coordinator(CoordinatorInputs inputs, PrimaryStart start) : this(inputs, ReplicaLog.Of(start.Log.Writer), start.Log.Chain, null)
    {
        StartPrimary(start).Open(app: null);
        Sessions.BecomePrimary();
        using RestoredCheckpoint? newest = Sessions.Restore(Log.Durable);
        if (newest?.Header is { } found) Checkpoints.Trigger.Found(found.FileName, AgeOf(found));
    }

    /// <summary>Makes a secondary.</summary>
    /// <param name="follower">The caller steps it; it has read the log's head.</param>
    /// <param name="view">It executes the log for this view and is no replica; null: it is one.</param>
    public Coordinator(CoordinatorInputs inputs, LogFollower follower, View? view = null)
        : this(inputs, ReplicaLog.Of(follower), follower.Chain, view) => _follower = follower;

    private Coordinator(CoordinatorInputs inputs, ReplicaLog log, LogChain chain, View? view)
    {
        (_inputs, _log, _chain) = (inputs, log, chain);
        CoordinatorOptions options = inputs.Options;
        Self = new InstanceId(inputs.Identity.Name, inputs.Identity.Shard);
        var readers = new LogReaders(inputs.Location, chain);
        _appender = new LogAppender(log, options.Log.PageBytes - PageHeader.Bytes, inputs.Pumps.Commit);
        Space = new SpaceKeeper(log, inputs.Logger);
        Outputs = new OutputStore(Self, inputs);
        _quarantine = new QuarantineJournal(_appender);
        Bodies = new TaskBodies(_appender);
        Execution = new AppExecution(log, readers, _appender, Outputs.Outboxes, view);
        Checkpoints = new ReplicaCheckpoints(inputs, log, readers, _appender, Outputs.Outboxes, Execution);
        _dedup = new DedupTable(Self);
        var self = new SelfChannel(Outputs.Outboxes.Self, _dedup, _appender);
        Links = new PeerLinks(inputs, _appender, _dedup, Outputs.Outboxes, self, ImpulsesLogged);
        Execution.Forgotten += Links.Admission.Forgotten;
        Queries = new PendingQueries(inputs.Time, () => log.Durable, () => Sessions!.Wake());
        Clients = new ClientSessions(inputs, _appender, Queries, Links.Events, MayAnswer, this);
        _timers = new AppTimers(_appender, () => inputs.TimersClock(log.Writer), inputs.Pumps);
        var results = new TaskResultLog(_appender, options.MessageBytesMax);
        Upgrades = new ReplicaUpgrades(inputs, log, _appender, Execution, Checkpoints, new UpgradingReplica(
            () => _asPrimary?.IsOwing != false, () => Sessions!.Wake(), frame => Sessions!.Live?.Send(frame),
            () => Sessions!.Live is { IsPrimary: true } && Sessions.Lag <= LagOfSwitchMax && AppWatch!.Overdue is null,
            () => self.TryPush() & results.TryLog()));
        _control = new AppControl(Execution, Checkpoints, _timers, results, _quarantine, Queries)
        {
            Contracts = new ContractFiles(inputs), Upgrades = Upgrades,
        };
        _emissions = new AppOutputs(Outputs, Execution, self, Links.Admission, Clients, _appender);
        if (options.Upgrade is { } upgrade) Upgrades.Connect(upgrade);
        Sessions = new AppSessionRegistry(inputs, log, Outputs, Execution, Checkpoints, _control) { Observer = this };
        Execution.Digests.MayDiffer = Sessions.Admission.MayDiffer;
        AppWatch = new AppWatch(Sessions, Execution, () => Outputs.Backpressure.IsWaiting || (HasLog && Log.IsSpaceShort),
            options.HandlerWarning, inputs.Logger);
    }

    public InstanceId Self { get; }

    /// <summary>The app version in force where the log ends, as far as this replica knows it; 0 before the first record.</summary>
    public uint AppVersion => _log.AppVersion;

    /// <summary>It keeps what the app has emitted and its receivers have not acknowledged.</summary>
    public OutputStore Outputs { get; }

    /// <summary>It knows what the app has been given and has executed.</summary>
    public AppExecution Execution { get; }

    public ReplicaCheckpoints Checkpoints { get; }

    /// <summary>The connections to peers: who may speak to this replica, who is called, and who is given up.</summary>
    public PeerLinks Links { get; }

    /// <summary>The sessions of callers outside.</summary>
    public ClientSessions Clients { get; }

    /// <summary>These are the questions that callers outside ask of the state.</summary>
    public PendingQueries Queries { get; }

    /// <summary>The sessions of the app, one at a time.</summary>
    public AppSessionRegistry Sessions { get; }

    /// <summary>It knows which bodies of tasks the app runs.</summary>
    public TaskBodies Bodies { get; }

    /// <summary>It makes the upgrade of this replica, if there is one.</summary>
    public ReplicaUpgrades Upgrades { get; }

    /// <summary>It knows whether the app gets on.</summary>
    public AppWatch AppWatch { get; }

    /// <summary>Looks after the space ahead of the log's tail, once this replica writes it.</summary>
    public SpaceKeeper Space { get; }

    /// <summary>Makes the log of a primary durable; a secondary has none.</summary>
    public Committer Committer => _asPrimary?.Committer ?? throw new InvalidOperationException("a secondary commits nothing (I10)");

    /// <summary>The log that a primary writes; a secondary has none.</summary>
    public LogWriter Log => _log.Writer;

    /// <summary>The log is ours to write; false: a secondary.</summary>
    public bool HasLog => _log.IsWritten;

    /// <summary>The epoch in force: our own, or that of the primary that we follow.</summary>
    public Epoch Epoch => _log.Epoch;

    /// <summary>The log is durable up to here, as this replica knows it, and may be executed.</summary>
    public Lsn Durable => _log.Durable;

    /// <summary>Links are open and impulses admitted.</summary>
    public bool IsPrimary => Links.IsOpen;

    ulong IClientReplica.Lag => Sessions.Lag;

    Lsn IClientReplica.DeliveredTo => Execution.Progress.DeliveredTo;

    /// <summary>A session is primary; the process says that it is ready.</summary>
    public event Action<AppSession>? Primary;

    /// <summary>
    /// This replica has claimed the epoch and taken the log over: its app goes on where it stands and becomes primary behind the tail.
    /// One thread, once.
    /// </summary>
    public void BecomePrimary(PrimaryStart start)
    {
        if (start.Log.Chain != _chain)
            throw new ArgumentException("the log was taken over without the chain that this replica follows");
        PrimaryRole own = StartPrimary(start);
        _log.BecomePrimary(start.Log.Writer);
        own.Open(Sessions.App);
        Execution.Delivery.StopHolding(); // who truncates now is ourselves, below what our app has executed
        if (start.Log.Checkpoints is [var newest, ..]) Checkpoints.Trigger.Found(newest, TimeSpan.Zero);
        Sessions.BecomePrimary();
    }

    private TimeSpan AgeOf(CheckpointHeader checkpoint) =>
        _inputs.Time.GetUtcNow() - DateTimeOffset.UnixEpoch.AddMicroseconds(checkpoint.TimeMicros);

    private PrimaryRole StartPrimary(PrimaryStart start)
    {
        _asPrimary = new PrimaryRole(_inputs, start, _chain, _appender, () => Checkpoints.FindNeeded(Sessions.NeededFrom), DurableAdvanced);
        _asPrimary.Further.Look();
        Checkpoints.BecomePrimary(_asPrimary.Retention);
        PrimaryLease lease = _asPrimary.PrimaryLease;
        Links.BecomePrimary(new OwnClaim(lease.Epoch, start.Lock.Claims), () => lease.IsFresh);
        return _asPrimary;
    }

    /// <summary>An app has come, and with it what the records say that a log and an epoch begin with.</summary>
    void ISessionObserver.Begins(AppHello app)
    {
        if (_asPrimary?.TryAppendOwed(app) == true) _inputs.Pumps.Commit(true);
    }

    /// <summary>The app has executed all that was durable: the first time in this epoch, the world is let in.</summary>
    void ISessionObserver.BecamePrimary(AppSession session)
    {
        Execution.RequireAll();
        if (!Links.IsOpen)
        {
            Execution.CompareSelf();
            Links.Admission.Open(Execution.Delivery.State);
            Checkpoints.Pipeline.Truncate(); // what a process that was killed meant to remove
        }
        LockChecks.BeforeCallOut();
        Primary?.Invoke(session);
        _inputs.Pumps.Dial();
    }

    /// <summary>Callers are answered always by a secondary, by a primary while it is sure that it still is one.</summary>
    private bool MayAnswer() => _asPrimary?.PrimaryLease.IsFresh ?? true;

    /// <summary>A connection of the app; its pump drives it.</summary>
    public AppSession NewSession(Action wakeSender) => new(
        Sessions, _emissions, _control, new AppFeed(Execution, _log, Queries), Interlocked.Increment(ref _sessions), wakeSender);

    /// <summary>
    /// Finds the calls of this instance in the logs of those who were called. It is asked while the app executes nothing.
    /// </summary>
    /// <param name="directoryOf">Where the log of another instance is; null: nobody knows.</param>
    public CallHistory OpenHistory(Func<InstanceId, string?> directoryOf) => new(
        _inputs.Files, _inputs.Identity, instance => instance == Self ? _inputs.Options.LogDirectory : directoryOf(instance),
        Execution.UuidOf, _inputs.Logger);

    // ---- what happens ----

    /// <summary>A secondary has read on: there may be more to execute, a checkpoint to name, or one of others to compare with.</summary>
    public void Followed()
    {
        Sessions.Wake();
        Checkpoints.Wake();
    }

    /// <summary>After each commit (step 8): who waits for it is told.</summary>
    private void DurableAdvanced(Lsn durable)
    {
        Links.AdvanceDurable(durable);
        Upgrades.DurableAdvanced(durable);
        Sessions.Wake(); // first: somebody may await an answer, and nobody an acknowledgement
        Links.WakeOwed();
        Clients.DurableAdvanced();
        Upgrades.TryRecord();
        _asPrimary!.PrimaryLease.Committed();
        _inputs.Pumps.RoomForApp();
        Checkpoints.Wake();
    }

    private void ImpulsesLogged(Outbox outbox, ulong ticket)
    {
        if (ticket > 0 && Sessions.Live is { HasBegun: true } session && Outputs.Outboxes.TryIndexOf(outbox, out uint index))
            session.Send(new ImpulseLogged(index, ticket));
    }

    /// <summary>Whatever is due by time: trims, marks, a checkpoint, the idle fence check. Called a few times a second.</summary>
    /// <param name="isQuiet">Nothing was appended since the last tick.</param>
    public void Tick(bool isQuiet)
    {
        if (_asPrimary is null) return;
        _asPrimary.PrimaryLease.BeatSoon();
        _asPrimary.TellOfJumps();
        TimeSpan now = _inputs.Time.GetElapsedTime(0);
        _asPrimary.Further.Tick(now);
        Execution.DigestWriter.TryLog();
        _quarantine.TryLog();
        Upgrades.Tick(now, Sessions.Live is { IsPrimary: true } ? Execution.Delivery.Versions.Runs : null);
        bool appended = _appender.TakeWake();
        appended |= _asPrimary.TryAppendOwed(Sessions.App);
        appended |= Links.Tick(now);
        bool mayMark = IsPrimary && Sessions.Live is { IsPrimary: true };
        Checkpoints.Tick(Outputs.Emitted, now, mayMark);
        appended |= mayMark && Execution.TryDigestQuiet(Log.Tail, now);
        if (!appended && isQuiet && Log.MarkDue) appended = Log.AppendMark();
        if (appended) _inputs.Pumps.Commit(true);
    }

    /// <summary>The replica is about to end: new messages of callers wait for the next one, and those that it has are answered.</summary>
    public void RefuseCallers() => _appender.RefuseCallers();

    /// <summary>The replica is about to end: what comes from outside waits for the next one.</summary>
    public void RefuseInputs() => _appender.RefuseInputs();

    /// <summary>The replica was asked to stop. A pump steps what is returned.</summary>
    public CleanEnd BeginCleanEnd() => new(this, _inputs);

    /// <summary>The replica was asked to stop.</summary>
    public bool IsEnding => _appender.RefusesCallers;

    /// <summary>Begins to look for replicas that can follow this primary.</summary>
    public SuccessorSearch SearchSuccessors() => new(_inputs, _log.Stated);

    /// <summary>Adds the command that ends this replica cleanly (protocol P9.8).</summary>
    /// <param name="stop">Begins the end and returns at once.</param>
    public void AddRetire(AdminCommands to, Action stop) => to.Set("retire", request => RetireCommand.Begin(
        request, HasLog ? SearchSuccessors() : null,
        () => ReplicaLock.ListRunning(_inputs.Files, _inputs.Options.LogDirectory, except: _inputs.Options.Replica),
        _inputs.Options.StopWithin, stop));

    /// <summary>
    /// Lets the app of a secondary that has caught up rehearse the upgrade that this replica is to make, and ends the replica when the time
    /// for that is over. Called a few times a second.
    /// </summary>
    public void Rehearse()
    {
        if (Upgrades.Parts is not { } upgrade || HasLog || !Upgrades.IsDue) return;
        if (upgrade.Rehearsal.Tick(_inputs.Time.GetElapsedTime(0), Sessions.IsCaughtUp ? Execution.Delivery.Versions.Runs : null))
            _inputs.Pumps.Fail(ExitCodes.Misuse,
                $"no rehearsal of the upgrade to version {upgrade.Options.To} has worked within --upgrade-within, so nothing was claimed: {upgrade.Rehearsal.Why ?? WhyNoRehearsal()}");
    }

    private string WhyNoRehearsal() => Sessions.Admission.WaitsBecause
        ?? (Sessions.Live is not { HasBegun: true } ? "the app that executes the log so far has not come; its own lines say why"
            : !Sessions.IsCaughtUp ? $"it has not caught up: {Sessions.Lag} bytes of the log are left. Let it follow without --upgrade-to first, or give it more time"
            : "the new app has not come, or does not come back from its conversion");

    /// <summary>Looks whether the app gets on, in either role. Called a few times a second.</summary>
    /// <param name="now">On a clock that stands while the machine is suspended, as the app does.</param>
    public void LookAtApp(TimeSpan now)
    {
        AppWatch.Tick(now);
        Execution.NoteDurable(now);
    }

    /// <summary>
    /// Logs the timers that are due, of a primary; returns for how long there is nothing to do unless the pumps are told otherwise.
    /// </summary>
    public TimeSpan FireTimers() =>
        _asPrimary is null || Sessions.Live is not { IsPrimary: true } ? Timeout.InfiniteTimeSpan : _timers.Fire();

    /// <summary>What this coordinator tells and does for its operator (protocol P9).</summary>
    public void AddCommands(AdminCommands to)
    {
        var report = new StatusReport(_inputs, _log, new LogStatus(_inputs, _log, _chain, Execution.Progress, Checkpoints),
            new AppStatus(Sessions, Execution, Checkpoints, AppWatch, _quarantine, Bodies),
            new PeerStatuses(Links.Table, Outputs, Clients.Table, _inputs.Options.ScratchBytes))
        {
            Upgrade = () => Upgrades.InPlace.Status,
        };
        to.Set("status", _ => new AdminAnswer(report.Make()));
        to.Set("forget-peer", request => ForgetPeerCommand.Begin(
            request, Links.IsOpen, Links.Admission.StepsToForget(_inputs.Identity.Uuid)));
        to.Set("quarantine", request => QuarantineCommand.Begin(
            request, _quarantine, Bodies, IsPrimary, () => Sessions.Live is { IsPrimary: true }, () => _appender.WakeCommitter(drained: true)));
        to.Set("checkpoint", _ => CheckpointCommand.Begin(
            _inputs, Checkpoints.Trigger, _log.Durable, hasApp: Sessions.Live is { IsPrimary: true }));
    }

    /// <summary>An idle primary looks whether it still is one, and a busy one is to beat with its next commit.</summary>
    public void CheckFence()
    {
        _asPrimary?.PrimaryLease.BeatSoon();
        bool isSpaceStuck = Space.StandsStill(); // asked each time
        if (_asPrimary is not { } own || !own.PrimaryLease.Check(mayBeat: !own.Committer.IsUnderWay && !isSpaceStuck)) return;
        Links.WakeAll(); // they were silent until now
    }

    public void Dispose()
    {
        Checkpoints.Dispose();
        Execution.Dispose();
        Outputs.Dispose();
        if (_log.IsWritten) Log.Dispose();
        _follower?.Dispose();
    }
}
