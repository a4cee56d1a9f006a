using Ambrosia.Coordinator.Checkpoints;
using Ambrosia.Coordinator.LogFeed;
using Ambrosia.Coordinator.Replay;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Protocol.Frames;

namespace Ambrosia.Coordinator.Upgrades;

/// <summary>
/// Owns what makes the upgrade of a replica: connected at its start, where its command line asks for one, or while it is primary, where an
/// operator does. It knows which app is which by their tokens. Any thread, but where a member says otherwise.
/// </summary>
internal sealed class ReplicaUpgrades
{
    private readonly CoordinatorInputs _inputs;
    private readonly ReplicaLog _log;
    private readonly LogAppender _appender;
    private readonly AppExecution _execution;
    private readonly ReplicaCheckpoints _checkpoints;
    private readonly UpgradingReplica _replica;
    private volatile UpgradeParts? _parts;

    /// <summary>These were there before an upgrade in place; they are again where it comes to nothing.</summary>
    private (UpgradeParts? Parts, IVersionCheckpoint? Checkpoint) _before;

    /// <summary>The log's doors were opened again, and what had to wait for that may not be logged yet.</summary>
    private volatile bool _isReopened;

    public ReplicaUpgrades(
        CoordinatorInputs inputs, ReplicaLog log, LogAppender appender, AppExecution execution, ReplicaCheckpoints checkpoints,
        UpgradingReplica replica)
    {
        (_inputs, _log, _appender, _execution, _checkpoints) = (inputs, log, appender, execution, checkpoints);
        _replica = replica;
        Tokens = new AppTokens(inputs.AppToken, inputs.OldAppToken);
        Handover = new StateHandover(inputs);
        Handover.Answered += Answered;
        InPlace = new InPlaceUpgrade(inputs, Tokens)
        {
            Connect = ConnectInPlace, Disconnect = Disconnect, MayShut = () => Handover.IsAwaited && replica.MayShut(),
        };
    }

    /// <summary>They tell which app has come, by the token that it shows.</summary>
    public AppTokens Tokens { get; }

    /// <summary>It takes the state of the old app of an upgrade to the new one, where there are two.</summary>
    public StateHandover Handover { get; }

    /// <summary>It makes an upgrade while this replica is primary.</summary>
    public InPlaceUpgrade InPlace { get; }

    /// <summary>They make the upgrade that this replica is to make, or has made; null: none.</summary>
    public UpgradeParts? Parts => _parts;

    /// <summary>The log lacks the upgrade that the command line asks for; another replica may have made it meanwhile.</summary>
    public bool IsDue => _parts is { Options: { } options } && IsDueFor(options);

    /// <summary>Callers wait for an upgrade, or for the app that it lets begin.</summary>
    public bool IsSwitching =>
        _parts?.Round is { } round && (round.IsCalled || round.Stage is not (UpgradeStage.Wanted or UpgradeStage.GivenUp));

    /// <summary>Connects the upgrade that the command line asks for. Before anything runs.</summary>
    public void Connect(UpgradeOptions options) => Use(Make(options));

    private UpgradeParts ConnectInPlace(UpgradeOptions options)
    {
        _before = (_parts, _checkpoints.Upgrade);
        Handover.Forget();
        UpgradeParts made = Make(options with { IsInPlace = true });
        made.Round.Over += _ => Reopened();
        Use(made);
        return made;
    }

    private void Use(UpgradeParts made)
    {
        (_parts, _checkpoints.Upgrade) = (made, made.Round);
        _execution.Delivery.Versions.HasNextApp = made.Apps is not null;
    }

    private void Disconnect()
    {
        (_parts, _checkpoints.Upgrade) = _before;
        _execution.Delivery.Versions.HasNextApp = _parts?.Apps is not null;
    }

    private UpgradeParts Make(UpgradeOptions options)
    {
        StateHandover? handover = options.HasTwoApps ? Handover : null;
        var round = new UpgradeRound(_inputs, _log, _appender, _execution, _replica) { Options = options, Handover = handover };
        var rehearsal = new UpgradeRehearsal(_inputs, options, frame => _replica.Send(handover?.Begin(frame) ?? frame))
        {
            IsDue = () => IsDueFor(options),
        };
        if (handover is null) return new UpgradeParts(options, round, rehearsal, null);
        var pair = new AppPair(isNewFirst: _log.AppVersion == 0 || _log.AppVersion >= options.To);
        var rebuild = new VersionRebuild(_inputs, _log, _execution, _checkpoints, handover, _replica.Wake) { Pair = pair };
        return new UpgradeParts(options, round, rehearsal, new TwoAppParts(handover, rebuild, pair));
    }

    private bool IsDueFor(UpgradeOptions options) => _log.AppVersion > 0 && _log.AppVersion < options.To;

    /// <summary>Two builds in two processes make the upgrade: what the old one has goes to the new one, and answers to who asked.</summary>
    private void Answered(ConvertedFrame answer, bool byApp)
    {
        if (_execution.View?.TryTake(answer) == true) return;
        if (_parts is not { Apps: { } apps } parts) return; // it was given up
        if (answer.Use == ConversionUse.Rehearsal)
        {
            if (!apps.Rebuild.TryTake(answer, byApp)) parts.Rehearsal.Answered(answer);
        }
        else if (parts.Round.IsBusy) parts.Round.Refused(answer.Why);
        else apps.Rebuild.Refused(answer.Why, byApp);
    }

    private void Reopened()
    {
        _isReopened = true;
        LogKept();
        _appender.WakeCommitter(drained: false);
        _inputs.Pumps.RoomForApp();
    }

    private void LogKept()
    {
        if (_isReopened && !_appender.IsShut) _isReopened = !_replica.TryLogKept();
    }

    /// <summary>A commit has gone through, the fence behind it.</summary>
    public void DurableAdvanced(Protocol.Lsn durable) => _parts?.Round.DurableAdvanced(durable);

    /// <summary>The record may have its place now.</summary>
    public void TryRecord() => _parts?.Round.TryRecord();

    /// <summary>Looks after what takes too long. The ticking thread of a primary.</summary>
    /// <param name="runs">The version of the app that serves; null: it is not primary now.</param>
    public void Tick(TimeSpan now, uint? runs)
    {
        _parts?.Round.Tick(now);
        InPlace.Tick(now, runs);
        LogKept();
    }
}

/// <summary>It is what an upgrade asks of the rest of its replica, and tells it. Any thread.</summary>
/// <param name="IsOwing">Records that the epoch begins with are not appended yet.</param>
/// <param name="Wake">The session's sender has something to do.</param>
/// <param name="Send">Sends a frame to the app whose session is live.</param>
/// <param name="MayShut">The app that serves is primary, gets on, and is near enough to the log's end for its doors to be shut.</param>
/// <param name="TryLogKept">Logs what the app has said to itself, and of its tasks, while they were; false: some still waits.</param>
internal sealed record UpgradingReplica(
    Func<bool> IsOwing, Action Wake, Action<ConvertFrame> Send, Func<bool> MayShut, Func<bool> TryLogKept);
