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

/// <summary>Says how far the old app of a log that has the Upgrade record has come on its way to give way to the new one.</summary>
internal enum RebuildStage
{
    /// <summary>Nothing is under way: it is looked whether the new app can begin, and if not, the state is converted.</summary>
    None,

    /// <summary>The new app converts the state, and sends the image.</summary>
    Converting,

    /// <summary>The image is another one than the record states: the new app is to be asked whether its conversion is a function.</summary>
    Differs,

    /// <summary>The new app was asked that.</summary>
    Proving,

    /// <summary>A checkpoint of the new version can serve.</summary>
    CanBegin,

    /// <summary>The old app was told to end.</summary>
    Ends,
}

/// <summary>
/// Ends the old app where the log has the Upgrade record, if the new one can begin there. If no checkpoint of the new version can serve any
/// more, the old state is converted again, and becomes such a checkpoint, with the very image that the record states (U13). One of another
/// image gets no name, and the replica ends when the new app has said why it may be another one. Any thread; one lock.
/// </summary>
/// <param name="wake">The session's sender has something to do.</param>
internal sealed class VersionRebuild(
    CoordinatorInputs inputs, ReplicaLog log, AppExecution execution, ReplicaCheckpoints checkpoints, StateHandover handover, Action wake)
    : IVersionCheckpoint
{
    /// <summary>It is tried again after so long where something was missing: the new app, or room on the disk.</summary>
    private static readonly TimeSpan s_again = TimeSpan.FromSeconds(1);

    private readonly RankedLock _gate = new(LockRank.VersionRebuild);

    private RebuildStage _stage;

    /// <summary>The new version begins here; null: nothing is made again.</summary>
    private RebuiltPlace? _place;

    /// <summary>It is not tried again before.</summary>
    private TimeSpan _next;

    /// <summary>It is told which of the two is to go on.</summary>
    public required AppPair Pair { get; init; }

    /// <summary>
    /// The old app has been given all that lies before the record: says what comes next. The thread that sends to the app.
    /// </summary>
    public GiveWayStep Next(UpgradeRecord record)
    {
        RebuildStage stage;
        using (_gate.Enter())
        {
            stage = _stage;
            if (!MayGoOn) return default;
        }
        if (execution.Progress.Dry is not { } executed) return default;
        if (stage == RebuildStage.Differs) return Ask(record, executed, RebuildStage.Proving, ConversionUse.Rehearsal);
        bool canBegin = stage == RebuildStage.CanBegin;
        if (!canBegin)
            using (RestoredCheckpoint? newest = checkpoints.Recovery.Newest(execution.OwnsLog ? executed : log.Durable))
                canBegin = newest?.Header.AppVersion >= record.VersionTo;
        if (!canBegin) return Rebuild(record, executed);
        using (_gate.Enter())
        {
            if (_stage == RebuildStage.Ends) return default;
            _stage = RebuildStage.Ends;
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

    private bool MayGoOn => _stage switch
    {
        RebuildStage.None or RebuildStage.Differs => inputs.Time.GetElapsedTime(0) >= _next,
        RebuildStage.CanBegin => true,
        _ => false,
    };

    private GiveWayStep Rebuild(UpgradeRecord record, Lsn executed)
    {
        if (executed != record.Checkpoint)
            throw new DivergenceException($"the upgrade names a checkpoint at {record.Checkpoint}, and what stands before it ends at {executed}");
        var at = new MarkSnapshot(
            execution.Progress.ProcessedPage, executed, execution.Delivery.State.Clone(),
            new CheckpointMarkRecord(log.Epoch, 0, inputs.Options.Replica));
        using (_gate.Enter()) _place = new RebuiltPlace(record, at);
        checkpoints.Upgrade = this;
        inputs.Logger.UpgradeMadeAgain(record.VersionTo, executed);
        return Ask(record, executed, RebuildStage.Converting, ConversionUse.Image);
    }

    private GiveWayStep Ask(UpgradeRecord record, Lsn executed, RebuildStage stage, ConversionUse use)
    {
        using (_gate.Enter()) _stage = stage;
        return new GiveWayStep(Convert: handover.Begin(new ConvertFrame(executed, record.VersionFrom, record.VersionTo, use)));
    }

    /// <summary>
    /// Takes the new app's answer to whether its conversion is a function, and asks again where there is none; false: it was not asked.
    /// </summary>
    /// <exception cref="DivergenceException">The conversion is another one than the one that made the upgrade, in either case.</exception>
    public bool TryTake(ConvertedFrame answer, bool byApp)
    {
        RebuiltPlace place;
        using (_gate.Enter())
        {
            if (_stage != RebuildStage.Proving) return false;
            place = _place!;
            if (!byApp) (_stage, _next) = (RebuildStage.Differs, inputs.Time.GetElapsedTime(0) + s_again);
        }
        if (byApp)
            throw new DivergenceException(
                answer.Why.Length > 0 ? WhyRefused(place.Record, answer.Why)
                : VersionSwitch.ChangedSince(place.Record, place.OtherImage, handover.Build));
        inputs.Logger.UpgradeWaits(place.Record.VersionTo, answer.Why);
        wake();
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
            if (_stage != RebuildStage.Converting) return;
            record = _place!.Record;
            (_stage, _place, _next) = (RebuildStage.None, null, inputs.Time.GetElapsedTime(0) + s_again);
        }
        if (byApp) throw new DivergenceException(WhyRefused(record, why));
        inputs.Logger.UpgradeWaits(record.VersionTo, why);
        wake();
    }

    private static string WhyRefused(UpgradeRecord record, string why) =>
        $"the state at {record.Checkpoint} became one of version {record.VersionTo} when the upgrade was made, and now it does not: {why}. Give the builds that made the upgrade; that of version {record.VersionTo} was {record.Build?.Short ?? "not known"}";

    /// <summary>The old app's session has ended: the new one goes on, or the old one begins again.</summary>
    public void SessionEnded()
    {
        using (_gate.Enter()) (_stage, _place) = (RebuildStage.None, null);
    }

    public VersionPlace? TakeFor(Lsn position)
    {
        using (_gate.Enter())
            return _stage == RebuildStage.Converting && _place is { } place && place.At.End == position
                ? new VersionPlace(place.Record.VersionTo, place.At, handover.Build) : null;
    }

    bool ICheckpointOutcome.Published(CheckpointFileName name)
    {
        using (_gate.Enter())
        {
            if (_stage != RebuildStage.Converting) return false;
            (_stage, _place) = (RebuildStage.CanBegin, null);
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

    string? ICheckpointOutcome.Computed(Lsn place, StateDigest state)
    {
        UpgradeRecord record;
        using (_gate.Enter())
        {
            if (_stage != RebuildStage.Converting || _place!.Record.ImageHash == state.Image) return null;
            (_stage, _place.OtherImage, record) = (RebuildStage.Differs, state.Image, _place.Record);
        }
        wake();
        return VersionSwitch.Differs(record, state.Image);
    }

    /// <summary>Holds where the new version begins, and what is known there.</summary>
    /// <param name="At">The fold of the log right there.</param>
    private sealed record RebuiltPlace(UpgradeRecord Record, MarkSnapshot At)
    {
        /// <summary>The hash of the image that the conversion gave, which is another one than the record states.</summary>
        public ulong OtherImage { get; set; }
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
