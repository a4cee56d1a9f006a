using System.Security.Cryptography;
using Ambrosia.Coordinator.Builds;
using Ambrosia.Coordinator.Checkpoints;
using Ambrosia.Coordinator.LogFeed;
using Ambrosia.Coordinator.Outboxes;
using Ambrosia.Coordinator.Replay;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Log.Checkpoints;
using Ambrosia.Log.Fencing;
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
    /// <summary>An app that waits is judged again after so long.</summary>
    private static readonly TimeSpan s_judgeEvery = TimeSpan.FromMilliseconds(200);

    private readonly RedeployCheck _redeploys = new(inputs, control.Contracts);
    private readonly RankedLock _gate = new(LockRank.AppSessionRegistry);
    private AppSession? _live;

    /// <summary>
    /// What was emitted below this is in the outboxes, or trimmed: no session of a primary begins beyond. Null: nothing was restored yet.
    /// </summary>
    private Lsn? _reach;

    /// <summary>Why the app that has come is given nothing as yet, and when it is judged again.</summary>
    private (string Why, TimeSpan Until)? _waits;

    private bool _isAccepted;

    /// <summary>
    /// An app was accepted where no replica was primary: it is given nothing before this one has the log or another one has, since what the
    /// new epoch begins with is in force from its first record on (log-format L5.13).
    /// </summary>
    private bool _isClaiming;

    /// <summary>What the live session's app says of itself; null: there is none.</summary>
    private AppHello? _app;

    /// <summary>The app whose build executes the epoch that this replica holds: one build executes an epoch. Null: none has come.</summary>
    private AppHello? _ofEpoch;

    /// <summary>The progress is that of the live session, and no longer that of the one before.</summary>
    private bool _hasPlace;

    /// <summary>A session of this replica was primary, so that peers may have been sent what its outboxes hold.</summary>
    private volatile bool _mayHaveSent;

    /// <summary>The session that is primary, or on its way.</summary>
    public AppSession? Live { get { using (_gate.Enter()) return _live; } }

    /// <summary>
    /// A checkpoint at or below this must stay, and the log behind it: the session that is live reads on from here, and the primary's next
    /// one could begin with no later checkpoint than its reach, which is no lower. Null: any will do.
    /// </summary>
    public Lsn? NeededFrom
    {
        get
        {
            using (_gate.Enter()) return _reach is null || _live is null ? _reach : _hasPlace ? execution.Progress.Processed : Lsn.Zero;
        }
    }

    /// <summary>A secondary whose app has executed all that is stated as durable.</summary>
    public bool IsCaughtUp => Live is { HasBegun: true } && execution.IsCaughtUp;

    /// <summary>
    /// Log bytes that are stated as durable, and that the app is not known to have executed; all of them while there is no app.
    /// </summary>
    public ulong Lag => log.Durable.Value
        - (Live is { HasBegun: true } ? Math.Min(log.Durable.Value, execution.Progress.Processed.Value) : 0);

    /// <summary>What the live session's app says of itself; null: there is none.</summary>
    public AppHello? App { get { using (_gate.Enter()) return _app; } }

    /// <summary>Why the app that has come is given nothing as yet; null: it is, or none has come.</summary>
    public string? WaitsBecause { get { using (_gate.Enter()) return _waits?.Why; } }

    /// <summary>An app was accepted, so that this replica may become primary. It stays true, since another app of it may come.</summary>
    public bool IsAccepted { get { using (_gate.Enter()) return _isAccepted; } }

    /// <summary>An app was accepted. Called under no lock.</summary>
    public event Action? Accepted;

    /// <summary>Hears what becomes of the sessions of a primary.</summary>
    public required ISessionObserver Observer { get; init; }

    /// <summary>This replica has the log: its session, now or the next, becomes primary behind all that was durable then.</summary>
    public void BecomePrimary()
    {
        execution.BecomePrimary();
        using (_gate.Enter()) (_ofEpoch, _isClaiming) = (_app, false);
        Live?.BecomePrimary(log.DurableOrFirst);
    }

    /// <summary>Another replica is primary: an app that was accepted follows.</summary>
    public void FollowAnother() { using (_gate.Enter()) _isClaiming = false; }

    /// <summary>The log has advanced, or queries wait: the app may have something to do.</summary>
    public void Wake() => Live?.Wake();

    /// <summary>Returns why the app cannot be the instance's whatever comes; null: it may be.</summary>
    public string? WhatIsWrong(AppHello hello)
    {
        if (!CryptographicOperations.FixedTimeEquals(hello.Token.Span, inputs.AppToken.Span)) return "the token is wrong";
        if (hello.AppVersion == 0) return "the app states version 0; versions of an app begin with 1";
        return hello.VersionMin > 1 || hello.VersionMax < 1
            ? $"the app speaks protocol versions {hello.VersionMin} to {hello.VersionMax}, this coordinator 1" : null;
    }

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
        TimeSpan now = inputs.Time.GetElapsedTime(0);
        using (_gate.Enter()) if (_isClaiming || (_waits is { } waits && now < waits.Until)) return false;
        using (_gate.Enter())
        {
            why = _live is null ? null : $"session {_live.Number} is live; one app at a time";
            if (why is not null) return false;
            _live = session;
        }
        Lsn durable = log.Durable;
        RestoredCheckpoint? checkpoint;
        try
        {
            checkpoint = FindStart(durable);
        }
        catch (LogUnreadException)
        {
            using (_gate.Enter()) _live = null;
            return false;
        }
        if (!MayExecute(hello, methods, checkpoint?.Header, now))
        {
            checkpoint?.Dispose();
            return false;
        }
        Begin(session, checkpoint, hello, durable);
        return true;
    }

    /// <summary>Judges what the app would make of the log; false: it waits. Where it must not execute it at all, nobody is live.</summary>
    private bool MayExecute(AppHello hello, BuildMethods? methods, CheckpointHeader? checkpoint, TimeSpan now)
    {
        bool isAccepted = false;
        try
        {
            uint inForce = log.AppVersion;
            if (inForce != 0 && inForce != hello.AppVersion) throw new AppVersionException(inForce, hello.AppVersion);
            AppHello? ofEpoch;
            using (_gate.Enter()) ofEpoch = _ofEpoch;
            if (RedeployCheck.WhatReplaces(ofEpoch, hello) is { } replaced) throw new RedeployRefusedException(replaced);
            if (execution.ExecutesAgainFrom is not null) return isAccepted = true; // by the build whose divergence is looked at
            (RedeployVerdict verdict, string why) = _redeploys.Judge(hello, methods, checkpoint, execution.OwnsLog);
            if (verdict == RedeployVerdict.Refused) throw new RedeployRefusedException(why);
            isAccepted = verdict == RedeployVerdict.Accepted;
            if (!isAccepted) Wait(why, now + s_judgeEvery);
            else if (!execution.OwnsLog) isAccepted = MayFollow();
            return isAccepted;
        }
        finally
        {
            if (!isAccepted) using (_gate.Enter()) _live = null;
        }
    }

    private void Wait(string why, TimeSpan until)
    {
        bool isNew;
        using (_gate.Enter()) (isNew, _waits) = (_waits is null, (why, until));
        if (isNew) inputs.Logger.RedeployWaits(why);
    }

    /// <summary>Says whether the app begins at once, behind another replica; false: this one claims the log first.</summary>
    private bool MayFollow()
    {
        bool isFollowing = PrimaryClaim.HasPrimary(inputs.Files, inputs.Options.LogDirectory, inputs.Identity);
        using (_gate.Enter()) (_waits, _isAccepted, _isClaiming) = (null, true, !isFollowing && !execution.OwnsLog);
        LockChecks.BeforeCallOut();
        Accepted?.Invoke();
        return isFollowing;
    }

    private void Begin(AppSession session, RestoredCheckpoint? checkpoint, AppHello hello, Lsn durable)
    {
        CheckpointHeader? header = checkpoint?.Header;
        ReplayState state = ReplayState.From(checkpoint?.Part);
        outputs.Outboxes.BeginSession(CheckpointRecovery.Positions(checkpoint), state.Generations);
        control.BeginSession();
        execution.BeginSession(header, checkpoint?.Part, state, inputs.Options.Replica, durable, hello);
        using (_gate.Enter()) 
        {
            (_hasPlace, _app) = (_live == session, hello);
            if (execution.OwnsLog) _ofEpoch ??= hello;
        }
        var welcome = new AppWelcome(1, new InstanceId(inputs.Identity.Name, inputs.Identity.Shard), inputs.Options.Replica,
            inputs.Identity.Uuid, log.Epoch, session.Number, state.Policy.MessageBytesMax, header?.Lsn ?? Lsn.Zero, checkpoint is not null);
        session.Begin(welcome, checkpoint is null ? null : new CheckpointImage(checkpoint.Reader, header!.Lsn, header.ImageVersion));
        if (!execution.OwnsLog) return;
        LockChecks.BeforeCallOut();
        Observer.Begins(hello);
        session.BecomePrimary(log.DurableOrFirst);
    }

    /// <summary>
    /// The checkpoint that a session begins with. A secondary takes the newest there is, outboxes and all: it has sent nothing. A primary
    /// keeps its outboxes, so it begins no later than where they reach; another replica's checkpoint may be ahead of its own app. One that
    /// took the log over when all that its outboxes could begin with was truncated has sent nothing either, and begins like a secondary.
    /// </summary>
    private RestoredCheckpoint? FindStart(Lsn durable) =>
        execution.OwnsLog && _reach is { } reached && (_mayHaveSent || checkpoints.Recovery.MayBeginBy(reached))
            ? checkpoints.Recovery.Newest(reached) : Restore(durable);

    /// <summary>
    /// Makes the outboxes what the newest checkpoint says of them, before anything of them is sent; null: there is
    /// none, and the log is whole.
    /// </summary>
    public RestoredCheckpoint? Restore(Lsn durable)
    {
        outputs.Outboxes.Clear();
        Lsn? again = execution.ExecutesAgainFrom;
        RestoredCheckpoint? checkpoint =
            checkpoints.Recovery.Newest(again ?? durable, mayReadOn: !execution.OwnsLog && again is null);
        using (_gate.Enter()) _reach = checkpoint?.Header.Lsn ?? Lsn.Zero;
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

    public void Ended(AppSession session)
    {
        using (_gate.Enter())
        {
            if (_live != session) return;
            if (_reach is { } reached) _reach = Lsn.Max(reached, execution.Progress.Processed);
            (_live, _app) = (null, null);
            _hasPlace = false;
        }
        control.SessionEnded();
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
