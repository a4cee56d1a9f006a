using Ambrosia.Coordinator.Builds;
using Ambrosia.Coordinator.Checkpoints;
using Ambrosia.Coordinator.LogFeed;
using Ambrosia.Coordinator.Outboxes;
using Ambrosia.Coordinator.Replay;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Coordinator.Upgrades;
using Ambrosia.Log.Checkpoints;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Locking;

namespace Ambrosia.Coordinator.AppSessions;

/// <summary>
/// Knows the session that is the instance's: there is one at a time, each begins with the newest checkpoint that can serve, and it becomes
/// primary when it has executed all that was durable when it began. It owns how far outboxes reach, which is where the next session of a
/// primary may begin at the latest. Any thread; one lock.
/// </summary>
internal sealed class AppSessionRegistry(
    CoordinatorInputs inputs, ReplicaLog log, OutputStore outputs, AppExecution execution, ReplicaCheckpoints checkpoints,
    AppControl control)
{
    private readonly RankedLock _gate = new(LockRank.AppSessionRegistry);
    /// <summary>
    /// The session that is primary, or on its way, whether the progress is its own, and no longer that of the one before, and the
    /// checkpoint with which it began.
    /// </summary>
    private (AppSession? Session, bool HasPlace, CheckpointFileName? From) _live;

    /// <summary>
    /// It holds what sessions have left. What was emitted below the reach is in the outboxes, or trimmed: no session of a primary begins
    /// beyond. Null: nothing was restored yet. The last session of the instance ended at the timestamp; 0: none has.
    /// </summary>
    private (Lsn? Reach, long EndedAt) _left;

    /// <summary>A session of this replica was primary, so that peers may have been sent what its outboxes hold.</summary>
    private volatile bool _mayHaveSent;

    /// <summary>The timestamp at which the last session of the instance ended; 0: none has.</summary>
    public long EndedAt { get { using (_gate.Enter()) return _left.EndedAt; } }

    /// <summary>The session that is primary, or on its way.</summary>
    public AppSession? Live { get { using (_gate.Enter()) return _live.Session; } }

    /// <summary>
    /// A checkpoint at or below this must stay, and the log behind it: the session that is live reads on from here, and the primary's next
    /// one could begin with no later checkpoint than its reach, which is no lower. Null: any will do.
    /// </summary>
    public Lsn? NeededFrom
    {
        get
        {
            using (_gate.Enter())
                return _left.Reach is null || _live.Session is null ? _left.Reach : _live.HasPlace ? execution.Progress.Processed : Lsn.Zero;
        }
    }

    /// <summary>A secondary whose app has executed all that is stated as durable.</summary>
    public bool IsCaughtUp => Live is { HasBegun: true } && execution.IsCaughtUp;

    /// <summary>The app has executed the log up to here, as far as that is known; zero while there is no app.</summary>
    public Lsn Executed =>
        Live is not { HasBegun: true } ? Lsn.Zero : execution.IsCaughtUp ? log.Durable : execution.Progress.Processed;

    /// <summary>
    /// Log bytes that are stated as durable, and that the app is not known to have executed; all of them while there is no app.
    /// </summary>
    public ulong Lag => log.Durable.Value
        - (Live is { HasBegun: true } ? Math.Min(log.Durable.Value, execution.Progress.Processed.Value) : 0);

    /// <summary>What the live session's app says of itself; null: there is none.</summary>
    public AppHello? App => Live is { HasBegun: true } session ? session.App : null;

    /// <summary>It decides which app may have a session.</summary>
    public AppAdmission Admission { get; } = new(inputs, log, checkpoints.Readers, execution, control);

    /// <summary>Hears what becomes of the sessions of a primary.</summary>
    public required ISessionObserver Observer { get; init; }

    /// <summary>Makes the welcome of a session that converts a state of the old app of an upgrade.</summary>
    public AppWelcome WelcomeOf(HandedState state, ulong number) => new(
        1, new InstanceId(inputs.Identity.Name, inputs.Identity.Shard), inputs.Options.Replica, inputs.Identity.Uuid, log.Epoch, number,
        inputs.Options.MessageBytesMax, state.Spool.Position, HasImage: true) { ConvertsFrom = state.Asked.From };

    /// <summary>This replica has the log: its session, now or the next, becomes primary behind all that was durable then.</summary>
    public void BecomePrimary()
    {
        execution.BecomePrimary();
        Admission.BecomePrimary(App);
        Live?.BecomePrimary(log.DurableOrFirst);
    }

    /// <summary>The log has advanced, or queries wait: the app may have something to do.</summary>
    public void Wake() => Live?.Wake();

    /// <summary>
    /// Makes the session the instance's, if there is none. False: <paramref name="why"/> not; null: not yet, since more of
    /// the log must be read first, or another build is primary.
    /// </summary>
    /// <param name="methods">What the app's build executes; null: it states none.</param>
    /// <exception cref="AppVersionException">The app cannot execute this log.</exception>
    /// <exception cref="RedeployRefusedException">The app would execute it otherwise.</exception>
    public bool TryBegin(AppSession session, AppHello hello, BuildMethods? methods, out string? why)
    {
        why = null;
        if (Admission.IsWaiting) return false;
        using (_gate.Enter())
        {
            why = _live.Session is { } live ? $"session {live.Number} is live; one app at a time" : null;
            if (why is not null) return false;
            _live = (session, false, null);
        }
        bool begins = false;
        RestoredCheckpoint? checkpoint = null;
        try
        {
            Lsn durable = log.Durable;
            checkpoint = FindStart(durable);
            begins = Admission.MayExecute(hello, methods, checkpoint?.Header, out uint runs);
            if (begins) Begin(session, checkpoint, (hello, runs), durable);
            return begins;
        }
        catch (LogUnreadException)
        {
            return false;
        }
        finally
        {
            if (!begins)
            {
                using (_gate.Enter()) _live = default;
                checkpoint?.Dispose();
            }
        }
    }

    private void Begin(AppSession session, RestoredCheckpoint? checkpoint, (AppHello Hello, uint Runs) app, Lsn durable)
    {
        CheckpointHeader? header = checkpoint?.Header;
        ReplayState state = ReplayState.From(checkpoint?.Part);
        outputs.Outboxes.BeginSession(CheckpointRecovery.Positions(checkpoint), state.Generations);
        control.BeginSession();
        execution.BeginSession(header, checkpoint?.Part, state, inputs.Options.Replica, durable, app);
        using (_gate.Enter()) (_live.HasPlace, _live.From) = (_live.Session == session, header?.FileName);
        var welcome = new AppWelcome(1, new InstanceId(inputs.Identity.Name, inputs.Identity.Shard), inputs.Options.Replica,
            inputs.Identity.Uuid, log.Epoch, session.Number, state.Policy.MessageBytesMax, header?.Lsn ?? Lsn.Zero, checkpoint is not null)
        {
            IsView = execution.View is not null, RunsVersion = app.Hello.HasVersions ? app.Runs : null,
        };
        session.Begin(welcome, checkpoint is null ? null : new CheckpointImage(checkpoint.Reader, header!.Lsn, header.ImageVersion));
        execution.View?.Begin(session, header?.Lsn ?? Lsn.Zero);
        if (!execution.OwnsLog) return;
        Admission.Begin(app.Hello);
        LockChecks.BeforeCallOut();
        Observer.Begins(app.Hello);
        session.BecomePrimary(log.DurableOrFirst);
    }

    /// <summary>
    /// The checkpoint that a session begins with. A secondary takes the newest there is, outboxes and all: it has sent nothing. A primary
    /// keeps its outboxes, so it begins no later than where they reach; another replica's checkpoint may be ahead of its own app. One that
    /// took the log over when all that its outboxes could begin with was truncated has sent nothing either, and begins like a secondary.
    /// </summary>
    private RestoredCheckpoint? FindStart(Lsn durable) =>
        execution.OwnsLog && _left.Reach is { } reached && (_mayHaveSent || checkpoints.Recovery.MayBeginBy(reached))
            ? checkpoints.Recovery.Newest(reached) : Restore(durable);

    /// <summary>
    /// Makes the outboxes what the newest checkpoint says of them, before anything of them is sent; null: there is
    /// none, and the log is whole.
    /// </summary>
    public RestoredCheckpoint? Restore(Lsn durable)
    {
        outputs.Outboxes.Clear();
        Lsn? view = execution.View?.BeginsBelow;
        RestoredCheckpoint? checkpoint =
            checkpoints.Recovery.Newest(view ?? durable, mayReadOn: !execution.OwnsLog && view is null);
        using (_gate.Enter()) _left.Reach = checkpoint?.Header.Lsn ?? Lsn.Zero;
        if (checkpoint is not null) CheckpointRecovery.RestoreOutboxes(checkpoint, outputs.Outboxes, outputs.Pool);
        return checkpoint;
    }

    /// <summary>The session's app has executed all that it had to.</summary>
    public void Ready(AppSession session)
    {
        _mayHaveSent = true;
        LockChecks.BeforeCallOut();
        Observer.BecamePrimary(session);
    }

    /// <summary>The app cannot restore what its session began with: the next session begins with an older checkpoint.</summary>
    /// <exception cref="ProtocolViolation">P5.7: it was given none, or has restored it and says so too late.</exception>
    public void CannotRestore(AppSession session, string why)
    {
        CheckpointFileName? from;
        using (_gate.Enter()) from = _live.Session == session ? _live.From : null;
        if (from is not { } name || execution.Progress.Processed > name.Lsn)
            throw new ProtocolViolation("P5.7", "an image is refused that was not given, or was restored before");
        checkpoints.Recovery.Refuse(name, why);
    }

    public void Ended(AppSession session)
    {
        using (_gate.Enter())
        {
            if (_live.Session != session) return;
            if (_left.Reach is { } reached) _left.Reach = Lsn.Max(reached, execution.Progress.Processed);
            (_live, _left.EndedAt) = (default, inputs.Time.GetTimestamp());
        }
        control.SessionEnded();
        execution.View?.Ended(session);
    }
}

/// <summary>Hears what becomes of the sessions of a primary's app; called under no lock.</summary>
internal interface ISessionObserver
{
    /// <summary>An app is about to be given the log, whose first records say what it says of itself.</summary>
    void Begins(AppHello app);

    /// <summary>The app has executed all that was durable when it came.</summary>
    void BecamePrimary(AppSession session);
}
