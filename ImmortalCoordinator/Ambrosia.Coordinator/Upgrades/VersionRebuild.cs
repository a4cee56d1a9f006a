using Ambrosia.Coordinator.Checkpoints;
using Ambrosia.Coordinator.LogFeed;
using Ambrosia.Coordinator.Replay;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Log.Checkpoints;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Checkpoints;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Locking;
using Ambrosia.Protocol.Records;
using Microsoft.Extensions.Logging;

namespace Ambrosia.Coordinator.Upgrades;

/// <summary>
/// Ends the old app where the log has the Upgrade record, if the new one can begin there. If no checkpoint of the new version can serve any
/// more, the old state is converted again, and becomes such a checkpoint, with the very image that the record states (U13). Any thread; one
/// lock.
/// </summary>
/// <param name="wake">The session's sender has something to do.</param>
internal sealed class VersionRebuild(
    CoordinatorInputs inputs, ReplicaLog log, AppExecution execution, ReplicaCheckpoints checkpoints, StateHandover handover, Action wake)
    : IVersionCheckpoint
{
    /// <summary>It is tried again after so long where something was missing: the new app, or room on the disk.</summary>
    private static readonly TimeSpan s_again = TimeSpan.FromSeconds(1);

    private readonly RankedLock _gate = new(LockRank.VersionRebuild);

    /// <summary>The new version begins with this; null: nothing is made again.</summary>
    private (UpgradeRecord Record, MarkSnapshot At)? _place;

    /// <summary>
    /// The new app has shown that its conversion is a function: a second one gives the same. A checkpoint of the new version can serve. And
    /// the old app was told to end.
    /// </summary>
    private (bool IsProven, bool CanBegin, bool Ends) _course;

    /// <summary>It is not tried again before.</summary>
    private TimeSpan _next;

    /// <summary>It is told which of the two is to go on.</summary>
    public required AppPair Pair { get; init; }

    /// <summary>
    /// The old app has been given all that lies before the record: says what comes next. The thread that sends to the app.
    /// </summary>
    public GiveWayStep Next(UpgradeRecord record)
    {
        bool canBegin;
        using (_gate.Enter())
        {
            canBegin = _course.CanBegin;
            if (!MayGoOn) return default;
        }
        if (execution.Progress.Dry is not { } executed) return default;
        if (!canBegin)
            using (RestoredCheckpoint? newest = checkpoints.Recovery.Newest(execution.OwnsLog ? executed : log.Durable))
                canBegin = newest?.Header.AppVersion >= record.VersionTo;
        if (!canBegin) return Rebuild(record, executed);
        using (_gate.Enter())
        {
            if (_course.Ends) return default;
            _course.Ends = true;
        }
        Crash.Hit("upgrade.beforeNewSession");
        Pair.Want(null); // first: the old app is not to be started again when it has ended
        return new GiveWayStep(Ends: true);
    }

    /// <summary>Says whether <see cref="Next"/> has something to do. Any thread.</summary>
    public bool MayHaveNext
    {
        get
        {
            using (_gate.Enter()) return MayGoOn && execution.Progress.IsDry;
        }
    }

    private bool MayGoOn => !_course.Ends && (_course.CanBegin || (_place is null && inputs.Time.GetElapsedTime(0) >= _next));

    private GiveWayStep Rebuild(UpgradeRecord record, Lsn executed)
    {
        if (executed != record.Checkpoint)
            throw new DivergenceException($"the upgrade names a checkpoint at {record.Checkpoint}, and what stands before it ends at {executed}");
        var at = new MarkSnapshot(
            execution.Progress.ProcessedPage, executed, execution.Delivery.State.Clone(),
            new CheckpointMarkRecord(log.Epoch, 0, inputs.Options.Replica));
        bool isProven;
        using (_gate.Enter()) (_place, isProven) = ((record, at), _course.IsProven);
        checkpoints.Upgrade = this;
        if (!isProven) inputs.Logger.UpgradeMadeAgain(record.VersionTo, executed);
        var asked = new ConvertFrame(
            executed, record.VersionFrom, record.VersionTo, isProven ? ConversionUse.Image : ConversionUse.Rehearsal);
        return new GiveWayStep(Convert: handover.Begin(asked));
    }

    /// <summary>
    /// Takes the new app's answer to whether its conversion is a function, and names what differs if it is not; false: it was not asked.
    /// </summary>
    /// <exception cref="DivergenceException">The conversion is another one than the one that made the upgrade.</exception>
    public bool TryTake(ConvertedFrame answer, bool byApp)
    {
        using (_gate.Enter())
        {
            if (_place is null || _course.IsProven) return false;
            if (answer.Why.Length == 0) (_place, _course.IsProven) = (null, true);
        }
        if (answer.Why.Length == 0) wake();
        else Refused(answer.Why, byApp);
        return true;
    }

    /// <summary>The state was not converted, though it was once.</summary>
    /// <param name="byApp">An app says so, and would say it again; false: it may work another time.</param>
    /// <exception cref="DivergenceException">The conversion is another one than the one that made the upgrade.</exception>
    public void Refused(string why, bool byApp)
    {
        UpgradeRecord record;
        using (_gate.Enter())
        {
            if (_place is not { } place) return;
            record = place.Record;
            (_place, _next) = (null, inputs.Time.GetElapsedTime(0) + s_again);
        }
        if (byApp)
            throw new DivergenceException(
                $"the state at {record.Checkpoint} became one of version {record.VersionTo} when the upgrade was made, and now it does not: {why}. Give the builds that made the upgrade; that of version {record.VersionTo} was {record.Build?.Short ?? "not known"}");
        inputs.Logger.UpgradeWaits(record.VersionTo, why);
        wake();
    }

    /// <summary>The old app's session has ended: the new one goes on, or the old one begins again.</summary>
    public void SessionEnded()
    {
        using (_gate.Enter()) (_place, _course) = (null, default);
    }

    public VersionPlace? TakeFor(Lsn position)
    {
        using (_gate.Enter())
            return _place is { } place && place.At.End == position
                ? new VersionPlace(place.Record.VersionTo, place.At, handover.Build) : null;
    }

    bool ICheckpointOutcome.Published(CheckpointFileName name)
    {
        using (_gate.Enter())
        {
            if (_place is null) return false;
            (_place, _course.CanBegin) = (null, true);
        }
        inputs.Logger.CheckpointPublished(name.ToString());
        wake();
        return false;
    }

    void ICheckpointOutcome.Truncate(CheckpointHeader? published)
    {
        // It makes nothing superfluous: the one that it stands for was there before.
    }

    void ICheckpointOutcome.Failed(string why) => Refused(why, byApp: false);

    void ICheckpointOutcome.Computed(Lsn place, StateDigest state)
    {
        using (_gate.Enter())
        {
            if (_place is { Record: var record } && record.ImageHash != state.Image)
                throw new DivergenceException(VersionSwitch.Differs(record, state.Image));
        }
    }
}

/// <summary>Says what a session does whose app has executed all of its version; nothing of both: it waits until it is woken.</summary>
/// <param name="Convert">It asks the app for this.</param>
/// <param name="Ends">It ends, and the app of the next version goes on.</param>
internal readonly record struct GiveWayStep(ConvertFrame? Convert = null, bool Ends = false);

/// <summary>Declares the events of upgrades that are made again.</summary>
internal static partial class RebuildEvents
{
    /// <summary>No checkpoint of the version in force can serve: the state before the upgrade is converted once more.</summary>
    [LoggerMessage(EventId = 845, EventName = "upgrade.again", Level = LogLevel.Warning,
        Message = "no checkpoint of version {To} can serve: the state at {Place} is converted again")]
    public static partial void UpgradeMadeAgain(this ILogger logger, uint to, Lsn place);

    /// <summary>It is tried again each second; the service stands still until it works.</summary>
    [LoggerMessage(EventId = 846, EventName = "upgrade.again.waits", Level = LogLevel.Warning,
        Message = "no checkpoint of version {To} was made yet, and it is tried again: {Why}")]
    public static partial void UpgradeWaits(this ILogger logger, uint to, string why);
}
