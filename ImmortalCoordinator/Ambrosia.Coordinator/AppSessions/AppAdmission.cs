using Ambrosia.Coordinator.Builds;
using Ambrosia.Coordinator.LogFeed;
using Ambrosia.Coordinator.Replay;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Log.Checkpoints;
using Ambrosia.Log.Fencing;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Locking;
using Ambrosia.Protocol.Records;

namespace Ambrosia.Coordinator.AppSessions;

/// <summary>
/// Decides whether an app may be given the log, when it has said what it says of itself: who it is, which version, and which build. It owns
/// what is waited for before a session begins, and which build executes the epoch that this replica holds. Any thread; one lock.
/// </summary>
internal sealed class AppAdmission(
    CoordinatorInputs inputs, ReplicaLog log, LogReaders readers, AppExecution execution, AppControl control)
{
    /// <summary>An app that waits is judged again after so long.</summary>
    private static readonly TimeSpan s_judgeEvery = TimeSpan.FromMilliseconds(200);

    private readonly RankedLock _gate = new(LockRank.AppAdmission);
    private readonly RedeployCheck _redeploys = new(inputs, control.Contracts);
    private readonly ServiceCheck _services = new(inputs, control.Contracts);
    private readonly UpgradeAdmission _upgrade = new(inputs, log, execution, control);

    /// <summary>It says why the app that has come is given nothing as yet, and when it is judged again.</summary>
    private (string Why, TimeSpan Until)? _waits;

    private bool _isAccepted;

    /// <summary>
    /// An app was accepted where no replica was primary: it is given nothing before this one has the log or another one has, since what the
    /// new epoch begins with is in force from its first record on (log-format L5.13).
    /// </summary>
    private bool _isClaiming;

    /// <summary>The app whose build executes the epoch that this replica holds: one build executes an epoch. Null: none has come.</summary>
    private AppHello? _ofEpoch;

    /// <summary>Why the app that has come is given nothing as yet; null: it is, or none has come.</summary>
    public string? WaitsBecause { get { using (_gate.Enter()) return _waits?.Why; } }

    /// <summary>An app was accepted, so that this replica may become primary. It stays true, since another app of it may come.</summary>
    public bool IsAccepted { get { using (_gate.Enter()) return _isAccepted; } }

    /// <summary>Says why this replica may not claim the log as far as its app goes; null: it may.</summary>
    public string? Obstacle => IsAccepted ? null : "no app has come that may execute the log";

    /// <summary>
    /// Says whether the app that was judged last may have made other calls and given other answers below a place than another build, which
    /// has executed the log up to there. Any thread.
    /// </summary>
    public bool MayDiffer(BuildId other, Lsn below) => _redeploys.HasAccepted(other, below);

    /// <summary>An app was accepted. Called under no lock.</summary>
    public event Action? Accepted;

    /// <summary>An app that has come cannot begin yet, and is not to be judged again so soon.</summary>
    public bool IsWaiting
    {
        get { using (_gate.Enter()) return _isClaiming || (_waits is { } waits && inputs.Time.GetElapsedTime(0) < waits.Until); }
    }

    /// <summary>Returns why the app cannot be the instance's whatever comes; null: it may be.</summary>
    public string? WhatIsWrong(AppHello hello)
    {
        if (!_upgrade.Tokens.IsAny(hello.Token)) return "the token is wrong";
        if (hello.AppVersion == 0) return "the app states version 0; versions of an app begin with 1";
        return hello.VersionMin > 1 || hello.VersionMax < 1
            ? $"the app speaks protocol versions {hello.VersionMin} to {hello.VersionMax}, this coordinator 1" : null;
    }

    /// <summary>It is the old one of two apps.</summary>
    private bool IsOld(AppHello hello) => _upgrade.Tokens.IsOld(hello.Token);

    /// <inheritdoc cref="UpgradeAdmission.WhatIsWrongInPlace"/>
    public string? WhatIsWrongInPlace(AppHello hello, BuildMethods? methods, AppHello? running) =>
        _upgrade.WhatIsWrongInPlace(hello, methods, running);

    /// <summary>The new one of two apps can make the upgrade, or can follow the log as it is.</summary>
    /// <exception cref="UpgradeRefusedException">It cannot.</exception>
    public void RequireNext(AppHello hello, BuildMethods? methods) => _upgrade.RequireNew(hello, methods);

    /// <summary>Says whether the app may execute the log from a checkpoint on; false: not yet.</summary>
    /// <param name="methods">What its build executes; null: it states none.</param>
    /// <param name="checkpoint">Null: from the log's beginning.</param>
    /// <param name="runs">The version with which the app begins.</param>
    /// <exception cref="AppVersionException">The log is of another version.</exception>
    /// <exception cref="FormerVersionMissingException">What must be executed first is of a version that the app lacks.</exception>
    /// <exception cref="UpgradeRefusedException">The upgrade that this replica is to make cannot be made with the app.</exception>
    /// <exception cref="RedeployRefusedException">It would execute the log otherwise than it was executed.</exception>
    /// <exception cref="OtherServiceException">It is the app of a view, and of another service.</exception>
    /// <exception cref="AppNotWantedException">It is the old one of two apps, and the new one executes the log.</exception>
    public bool MayExecute(AppHello hello, BuildMethods? methods, CheckpointHeader? checkpoint, out uint runs)
    {
        runs = checkpoint?.AppVersion ?? readers.VersionAt(new Lsn(1));
        if (runs == 0) runs = _upgrade.FirstOf(hello); // the log has no record yet, and begins with this one
        if (execution.View is not null)
        {
            if (!hello.Executes(runs)) runs = hello.AppVersion; // whoever looks may try the records of one version with another
            _services.Require(hello, methods, checkpoint); // any build of it may: nothing that it does gets out
            return true;
        }
        // The record of an upgrade that no page states yet to be durable is the log's all the same, and the checkpoint counts by it: who
        // lacks its version claims nothing, and who has it goes on.
        uint inForce = Math.Max(_upgrade.InForce, checkpoint?.AppVersion ?? 0);
        bool isOld = IsOld(hello);
        if (!isOld) _upgrade.RequireNew(hello, methods);
        if (_upgrade.Judge(hello, methods, (runs, checkpoint?.Build)) is { } other)
        {
            using (_gate.Enter()) _waits = other;
            return false;
        }
        if (inForce != 0 && !hello.Executes(inForce) && !isOld) throw new AppVersionException(inForce, hello.AppVersion);
        if (!hello.Executes(runs)) throw new FormerVersionMissingException(runs, inForce, checkpoint?.Build);
        AppHello? ofEpoch;
        using (_gate.Enter()) ofEpoch = _ofEpoch is { } before && IsOld(before) == isOld ? before : null;
        RedeployCheck.RequireSame(ofEpoch, hello);
        if (_redeploys.Judge(hello, methods, checkpoint, execution.OwnsLog) is not { } waits) return execution.OwnsLog || MayFollow();
        Wait(waits);
        return false;
    }

    /// <summary>The session of a primary's app begins: its build is the epoch's.</summary>
    public void Begin(AppHello app)
    {
        using (_gate.Enter()) (_ofEpoch, _waits) = (_ofEpoch is { } before && IsOld(before) == IsOld(app) ? before : app, null);
    }

    /// <summary>This replica has the log now.</summary>
    /// <param name="app">The app that has followed so far; null: none has.</param>
    public void BecomePrimary(AppHello? app)
    {
        using (_gate.Enter()) (_ofEpoch, _isClaiming) = (app, false);
    }

    /// <summary>Another replica is primary: an app that was accepted follows.</summary>
    public void FollowAnother()
    {
        using (_gate.Enter()) _isClaiming = false;
    }

    private void Wait(string why)
    {
        TimeSpan until = inputs.Time.GetElapsedTime(0) + s_judgeEvery;
        bool isNew;
        using (_gate.Enter()) (isNew, _waits) = (_waits?.Why != why, (why, until));
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
}
