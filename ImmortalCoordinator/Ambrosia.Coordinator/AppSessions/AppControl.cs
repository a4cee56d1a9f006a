using Ambrosia.Coordinator.Builds;
using Ambrosia.Coordinator.Checkpoints;
using Ambrosia.Coordinator.Clients;
using Ambrosia.Coordinator.Quarantine;
using Ambrosia.Coordinator.Replay;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Coordinator.Upgrades;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;

namespace Ambrosia.Coordinator.AppSessions;

/// <summary>
/// Takes the app's control frames to the modules that they are for: its checkpoint's image, timers, results of tasks, answers to queries,
/// contracts and what it sets aside. What of them the session's stage does not admit breaks the protocol. The thread that reads the app.
/// </summary>
internal sealed class AppControl(
    AppExecution execution, ReplicaCheckpoints checkpoints, AppTimers timers, TaskResultLog results, QuarantineJournal quarantine,
    PendingQueries queries)
{
    /// <summary>They make the upgrade that this replica is to make, or has made; null: none. Any thread.</summary>
    public UpgradeParts? Upgrade => Upgrades.Parts;

    /// <summary>They are what two apps of that upgrade need; null: there are not two.</summary>
    public TwoAppParts? Apps => Upgrade?.Apps;

    /// <summary>It knows the upgrade that this replica makes, and which app is which.</summary>
    public required ReplicaUpgrades Upgrades { get; init; }

    private UpgradeRound? Round => Upgrade?.Round;

    private StateHandover Handover => Upgrades.Handover;

    /// <summary>It keeps what the app states of itself.</summary>
    public required ContractFiles Contracts { get; init; }

    public void BeginSession()
    {
        timers.BeginSession();
        quarantine.BeginSession();
    }

    public void SessionEnded()
    {
        queries.AppEnded();
        checkpoints.SessionEnded();
        results.SessionEnded();
        UpgradeParts? upgrade = Upgrade;
        bool owedState = Handover.AwaitsOldApp;
        upgrade?.Round.SessionEnded();
        upgrade?.Rehearsal.SessionEnded();
        Handover.OldAppEnded();
        upgrade?.Apps?.Rebuild.SessionEnded();
        if (owedState) // it would end each time that it is asked, if its binding takes part in no upgrade (P5.25)
            Upgrades.InPlace.TryGiveUp("the app that serves ended when it was asked for its state");
    }

    /// <summary>Begins a session of the new app that converts what the old one has sent; null: there is nothing to convert.</summary>
    /// <param name="welcomeOf">Makes the welcome for a state.</param>
    public ConversionSession? TryBeginConversion(Func<HandedState, AppWelcome> welcomeOf) =>
        Handover.TryGive() is { } state ? new ConversionSession(state, welcomeOf(state), Handover, checkpoints, Contracts) : null;

    /// <summary>The session's app has become primary.</summary>
    public void BecomePrimary() => timers.Open();

    /// <param name="stage">The session's stage.</param>
    /// <param name="wake">Queries may be given to the app now.</param>
    public ReadAnswer Take(FrameType type, ReadOnlySpan<byte> payload, AppStage stage, Action wake)
    {
        if (execution.View?.TryTake(type, payload) == true) return ReadAnswer.More;
        switch (type)
        {
            case FrameType.Processed: Executed(ProcessedFrame.Read(payload).Position, wake); break;
            case FrameType.Executing: execution.Progress.Executes(ExecutingFrame.Read(payload).Place); break;
            case FrameType.ImageBegin when Handover.TakesImage: BeginState(ImageBegin.Read(payload), wake); break;
            case FrameType.ImageChunk when Handover.TakesImage: Handover.TakeChunk(ImageChunk.Read(payload)); break;
            case FrameType.ImageEnd when Handover.TakesImage: Handover.Take(ImageEnd.Read(payload)); break;
            case FrameType.ImageBegin:
                return CheckpointAnswer(
                    checkpoints.Begin(
                        ImageBegin.Read(payload),
                        isWanted: stage == AppStage.Primary || !execution.OwnsLog || Round is { Stage: UpgradeStage.Converting },
                        executed => Executed(executed, wake)));
            case FrameType.ImageChunk: return CheckpointAnswer(checkpoints.Pipeline.Chunk(payload));
            case FrameType.ImageEnd: return CheckpointAnswer(checkpoints.Pipeline.End(ImageEnd.Read(payload)));
            case FrameType.TimerSet: timers.Set(TimerSet.Read(payload)); break;
            case FrameType.TimerDropped: timers.Drop(TimerDropped.Read(payload)); break;
            case FrameType.TaskResult:
                RequirePrimary(stage, "P5.15", "task result");
                return results.TryAppend(payload) ? ReadAnswer.More : ReadAnswer.LogFull;
            case FrameType.QueryAnswer: Answered(QueryAnswerFrame.Read(payload, SizeLimits.MessageBytesMaxLimit), wake); break;
            case FrameType.SetAside: SetAside(SetAsideFrame.Read(payload), stage); break;
            case FrameType.Released: quarantine.Take(ReleasedFrame.Read(payload)); break;
            case FrameType.Converted: Converted(ConvertedFrame.Read(payload)); break;
            case FrameType.Waiting: checkpoints.Waits(Waiting.Read(payload)); break;
            case FrameType.CheckpointWanted:
                FrameReader.ReadEmpty(type, payload);
                checkpoints.Request();
                break;
            case FrameType.Contract: Contracts.Keep(ContractFrame.Read(payload)); break;
            case FrameType.Heartbeat: FrameReader.ReadEmpty(type, payload); break;
            default: throw new ProtocolViolation("P2.4", $"{type} from the app");
        }
        return ReadAnswer.More;
    }

    /// <summary>Logs decisions of the app, and results of its tasks, that found no room so far; false: some still wait.</summary>
    public bool TryLogDecisions() => quarantine.TryLog() & results.TryLog();

    /// <exception cref="ProtocolViolation">The session's app is not primary, and not told to become it.</exception>
    public static void RequirePrimary(AppStage stage, string rule, string what)
    {
        if (stage is not (AppStage.BecomingPrimary or AppStage.Primary)) throw new ProtocolViolation(rule, $"{what} before BecomePrimary");
    }

    private void Executed(Lsn place, Action wake)
    {
        execution.Executed(place);
        if (Round is { Stage: UpgradeStage.Wanted } || execution.Delivery.Versions.Ends is not null) wake();
    }

    /// <summary>The app's state for another version follows. It stands where a report of progress would, and is one (P5.7).</summary>
    private void BeginState(ImageBegin begin, Action wake)
    {
        Executed(begin.Position, wake);
        Handover.Take(begin);
    }

    private static ReadAnswer CheckpointAnswer(bool isTaken) => isTaken ? ReadAnswer.More : ReadAnswer.CheckpointFull;

    private void Converted(ConvertedFrame answer)
    {
        switch (answer.Use)
        {
            case ConversionUse.Switch: execution.Switched(answer); break;
            case ConversionUse.State: Handover.OldAppAnswers(answer); break;
            case ConversionUse.Rehearsal when Upgrade is { } upgrade: upgrade.Rehearsal.Answered(answer); break;
            case ConversionUse.Image when Round is { } round: round.Refused(answer.Why); break;
            default: throw new ProtocolViolation("P5.25", $"an answer to a conversion for use {answer.Use} that nobody asked for");
        }
    }

    private void Answered(in QueryAnswerFrame answer, Action wake)
    {
        Crash.Hit("query.answered");
        if (queries.Answered(answer, execution.Progress.DeliveredTo)) wake();
    }

    private void SetAside(SetAsideFrame message, AppStage stage)
    {
        if (message.IsUnlogged) RequirePrimary(stage, "P5.16", "a decision to be logged");
        quarantine.Take(message);
    }
}
