using Ambrosia.Coordinator.Checkpoints;
using Ambrosia.Coordinator.LogFeed;
using Ambrosia.Coordinator.Replay;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Log.Checkpoints;
using Ambrosia.Log.Commit;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Checkpoints;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Locking;
using Ambrosia.Protocol.Records;
using Microsoft.Extensions.Logging;

namespace Ambrosia.Coordinator.Upgrades;

/// <summary>Says how far an upgrade has come. It only goes forward; whoever gives up does so before the record is appended.</summary>
internal enum UpgradeStage
{
    /// <summary>It begins where the app of a primary has executed all that was durable.</summary>
    Wanted,

    /// <summary>The app converts its state, and sends the image.</summary>
    Converting,

    /// <summary>The checkpoint of the new version is on its way to its name.</summary>
    Writing,

    /// <summary>The checkpoint is durable, and the record waits for its place.</summary>
    Recording,

    /// <summary>The record is appended: what becomes of the upgrade is the log's to say.</summary>
    Appended,

    /// <summary>The record is durable and behind the fence: the new version is in force.</summary>
    Done,

    /// <summary>The replica goes on with the version before.</summary>
    GivenUp,
}

/// <summary>Says which app does not come back from its part of a conversion, and is to be ended.</summary>
internal enum HangingApp
{
    None,

    /// <summary>The old one of two, which is to send its state.</summary>
    Old,

    /// <summary>The one that converts.</summary>
    New,
}

/// <summary>
/// Leads an upgrade on a replica that has the log and lets nobody in: one that has just taken it over, or one that serves and is called to
/// make the upgrade, and shuts the log's doors for it (U14). The app has executed all that is durable; its state is converted; that becomes
/// a checkpoint of the new version; the Upgrade record names it and brings the version into force (protocol/models/upgrade.py). Up to the
/// record, whatever fails, the app is primary under the version before (U11). It never waits: the session asks what is next, and is woken.
/// Any thread; one lock.
/// </summary>
/// <param name="replica">It is asked, and its session's sender is woken.</param>
internal sealed class UpgradeRound(
    CoordinatorInputs inputs, ReplicaLog log, LogAppender appender, AppExecution execution, UpgradingReplica replica)
    : IVersionCheckpoint
{
    /// <summary>
    /// An append that had begun when the doors were shut may come behind the place of the conversion: it is made again so often.
    /// </summary>
    private const int AgainMax = 3;

    private readonly RankedLock _gate = new(LockRank.UpgradeRound);
    private UpgradeStage _stage;

    private Course _course;

    /// <summary>The state that is converted; null: none is.</summary>
    private ConvertedPlace? _place;

    /// <summary>Why the round was given up; null: it was not. Any thread.</summary>
    public string? GivenUp { get { using (_gate.Enter()) return _course.GivenUp; } }

    /// <summary>It takes the state to the new app; null: one app carries both versions.</summary>
    public StateHandover? Handover { get; init; }

    /// <summary>
    /// The round was given up, and this app does not come back from its conversion; or, null, an upgrade in place was made, and the log's
    /// doors are open again. Called under no lock.
    /// </summary>
    public event Action<HangingApp?>? Over;

    /// <summary>They say what is to be done, and in which time.</summary>
    public required UpgradeOptions Options { get; init; }

    /// <summary>The replica serves, and the upgrade begins where it is called; false: where the app is to become primary.</summary>
    private bool IsInPlace => Options.IsInPlace;

    public UpgradeStage Stage { get { using (_gate.Enter()) return _stage; } }

    public bool IsGivenUp => Stage == UpgradeStage.GivenUp;

    /// <summary>A replica that serves was called to make the upgrade, and it is not over.</summary>
    public bool IsCalled { get { using (_gate.Enter()) return _course.Called is not null && IsWaiting; } }

    /// <summary>
    /// Shuts the doors of a replica that serves: nothing more is logged but the upgrade, which begins as soon as the app has executed all
    /// that is. False: it was given up meanwhile.
    /// </summary>
    public bool TryCall()
    {
        using (_gate.Enter())
        {
            if (_stage != UpgradeStage.Wanted) return false;
            _course.Called = inputs.Time.GetElapsedTime(0);
            appender.Shut(true);
        }
        replica.Wake();
        return true;
    }

    /// <summary>The session stands at its target and waits for this round.</summary>
    public bool IsBusy => Stage is UpgradeStage.Converting or UpgradeStage.Writing or UpgradeStage.Recording or UpgradeStage.Appended;

    /// <summary>
    /// The app of a primary has been given all below <paramref name="target"/>, where it is to become primary: says what comes first.
    /// The thread that sends to the app.
    /// </summary>
    public UpgradeStep Next(Lsn target, AppHello app)
    {
        using (_gate.Enter())
        {
            if (IsInPlace && _course.Called is null) return default;
            switch (_stage)
            {
                case UpgradeStage.Wanted: return Begin(target, app);
                case UpgradeStage.Done when log.Durable > target: return new UpgradeStep(Target: log.Durable);
                default: return IsWaiting ? UpgradeStep.Wait : default;
            }
        }
    }

    private bool IsWaiting => _stage is not (UpgradeStage.Done or UpgradeStage.GivenUp);

    private bool MayGiveUp => IsWaiting && _stage != UpgradeStage.Appended;

    private UpgradeStep Begin(Lsn target, AppHello app)
    {
        uint from = execution.Delivery.Versions.Runs;
        LogWriter own = log.Writer;
        if (from >= Options.To)
        {
            _stage = UpgradeStage.Done;
            return default;
        }
        // What the epoch begins with is executed, and all digests are made, so nothing stands between the checkpoint and the record.
        if (replica.IsOwing() || own.Tail > own.Durable) return UpgradeStep.Wait;
        if (own.Durable > target) return new UpgradeStep(Target: own.Durable);
        if (execution.Progress.Dry is not { } executed) return UpgradeStep.Wait;
        Crash.Hit("upgrade.atTarget");
        _stage = UpgradeStage.Converting;
        _place = new ConvertedPlace(
            executed, execution.Progress.ProcessedPage, own.RecordsEnd, execution.Delivery.State.Clone(), from, app.Build,
            inputs.Time.GetElapsedTime(0));
        var wanted = new ConvertFrame(executed, from, Options.To, ConversionUse.Image);
        return new UpgradeStep(Convert: Handover?.Begin(wanted) ?? wanted);
    }

    /// <summary>Says whether the session that stands at its target has something to send or to do. Any thread.</summary>
    public bool MayHaveNext(Lsn target) => Stage switch
    {
        UpgradeStage.Wanted when IsInPlace && !IsCalled => true,
        UpgradeStage.Wanted => !replica.IsOwing() && log.Writer.Tail == log.Durable && (log.Durable > target || execution.Progress.IsDry),
        UpgradeStage.Done or UpgradeStage.GivenUp => true,
        _ => false
    };

    // ---- the app's answer ----

    /// <summary>The app cannot convert its state.</summary>
    public void Refused(string why) => TryGiveUp(why);

    /// <summary>The app's session has ended.</summary>
    public void SessionEnded()
    {
        if (Stage == UpgradeStage.Converting) TryGiveUp("the app ended while it converted its state");
        else if (Stage == UpgradeStage.Wanted && IsCalled) TryGiveUp("the app ended before it had executed what was logged");
    }

    public VersionPlace? TakeFor(Lsn position)
    {
        using (_gate.Enter())
            return _stage == UpgradeStage.Converting && _place is { } place && place.Lsn == position
                ? new VersionPlace(Options.To, new MarkSnapshot(
                    place.PageLsn, position, place.State, new CheckpointMarkRecord(log.Epoch, 0, inputs.Options.Replica)),
                    BuildOf(place))
                : null;
    }

    /// <summary>The build that goes on as the new version.</summary>
    private BuildId? BuildOf(ConvertedPlace place) => Handover is null ? place.Build : Handover.Build;

    // ---- the checkpoint of the new version; the thread that writes checkpoints ----

    bool ICheckpointOutcome.Published(CheckpointFileName name)
    {
        Crash.Hit("upgrade.afterNewCkpt");
        using (_gate.Enter())
        {
            if (_stage != UpgradeStage.Writing) return false;
            _stage = UpgradeStage.Recording;
        }
        inputs.Logger.CheckpointPublished(name.ToString());
        TryRecord();
        return false;
    }

    void ICheckpointOutcome.Truncate(CheckpointHeader? published)
    {
        // Nothing is removed before the record names it: until then it is no checkpoint of this log.
    }

    void ICheckpointOutcome.Failed(string why) => TryGiveUp(why);

    string? ICheckpointOutcome.Computed(Lsn place, StateDigest state)
    {
        Crash.Hit("upgrade.afterConvert");
        using (_gate.Enter())
        {
            if (_stage != UpgradeStage.Converting) return null;
            (_stage, _place!.Hashes) = (UpgradeStage.Writing, state);
        }
        if (log.Writer.AppendMark()) inputs.Pumps.Commit(true); // the file gets its name once the log states its place
        return null;
    }

    // ---- the record ----

    /// <summary>Appends the record at the log's end, if nothing is on its way there. It is tried again behind each commit.</summary>
    public void TryRecord()
    {
        LogWriter own = log.Writer;
        Lsn at = own.Tail;
        ConvertedPlace place;
        UpgradeRecord record;
        using (_gate.Enter())
        {
            if (_stage != UpgradeStage.Recording || own.Durable < at) return;
            place = _place!;
            record = new UpgradeRecord(
                place.From, Options.To, place.Lsn, own.Epoch, inputs.Options.Replica, place.Hashes.Part,
                place.Hashes.Image, BuildOf(place));
        }
        if (own.RecordsEnd != place.RecordsEnd)
        {
            if (!TryAgain()) TryGiveUp($"something was logged behind {place.RecordsEnd}, where the state was converted");
            return;
        }
        Crash.Hit("upgrade.beforeRecord");
        using (_gate.Enter())
        {
            // One lock with giving up: behind the record nobody gives up (U11).
            if (_stage != UpgradeStage.Recording) return;
            if (!appender.TryAppendVersion(at, RecordKind.Upgrade, RecordKinds.Encode(record), Options.To)) return;
            (_stage, place.RecordAt) = (UpgradeStage.Appended, at);
        }
        Crash.Hit("upgrade.afterRecord");
        inputs.Pumps.Commit(true);
    }

    private bool TryAgain()
    {
        using (_gate.Enter())
        {
            if (_course.Called is null || _stage != UpgradeStage.Recording || _course.Again++ == AgainMax) return false;
            (_stage, _place) = (UpgradeStage.Wanted, null);
        }
        replica.Wake();
        return true;
    }

    /// <summary>A commit has gone through, the fence behind it.</summary>
    public void DurableAdvanced(Lsn durable)
    {
        ConvertedPlace place;
        using (_gate.Enter())
        {
            if (_stage != UpgradeStage.Appended || durable <= _place!.RecordAt) return;
            Crash.Hit("upgrade.afterFence");
            _stage = UpgradeStage.Done;
            place = _place;
        }
        inputs.Logger.UpgradeDone(place.From, Options.To, place.RecordAt);
        if (!IsInPlace) return;
        appender.Shut(false);
        LockChecks.BeforeCallOut();
        Over?.Invoke(null);
    }

    // ---- giving up ----

    /// <summary>An app that does not come back from its conversion is given up after a while. The ticking thread.</summary>
    public void Tick(TimeSpan now)
    {
        TimeSpan begun;
        using (_gate.Enter())
        {
            if (_stage is not (UpgradeStage.Converting or UpgradeStage.Writing or UpgradeStage.Recording)
                && !(_stage == UpgradeStage.Wanted && _course.Called is not null)) return;
            begun = _course.Called ?? _place!.Begun;
        }
        if (now - begun >= Options.Limit)
        {
            HangingApp hanging = IsInPlace || Stage != UpgradeStage.Converting ? HangingApp.None
                : Handover?.AwaitsOldApp == true ? HangingApp.Old : HangingApp.New;
            TryGiveUp(
                $"it was not done within {(IsInPlace ? "--limit" : "--upgrade-limit")} {Options.Limit.TotalSeconds:0.#} s{(Stage == UpgradeStage.Wanted ? $": {WhatIsAwaited()}" : "")}",
                hanging);
        }
        else TryRecord();
    }

    private string WhatIsAwaited() => replica.IsOwing() ? "what the epoch begins with is not logged"
        : log.Writer.Tail > log.Durable ? $"the log is durable up to {log.Durable}, and not to its end at {log.Writer.Tail}"
        : $"the app had not executed all that is logged, up to {log.Durable}: it was given it up to {execution.Progress.DeliveredTo}, and has executed it up to {execution.Progress.Processed}";

    /// <summary>
    /// The replica goes on with the version before, where that is still in force; false: behind the record nobody gives up (U11), or the
    /// upgrade was given up before. Called under no lock.
    /// </summary>
    /// <param name="hanging">It does not come back.</param>
    public bool TryGiveUp(string why, HangingApp hanging = HangingApp.None)
    {
        using (_gate.Enter())
        {
            if (!MayGiveUp || log.AppVersion >= Options.To) return false;
            (_stage, _course.GivenUp) = (UpgradeStage.GivenUp, why);
        }
        if (IsInPlace) appender.Shut(false);
        inputs.Logger.UpgradeGivenUp(Options.To, execution.Delivery.Versions.Runs, log.Epoch, why);
        Handover?.Drop();
        replica.Wake();
        LockChecks.BeforeCallOut();
        Over?.Invoke(hanging);
        return true;
    }

    /// <summary>Notes what has become of the round, beside its stage.</summary>
    /// <param name="Called">A replica that serves was called to make the upgrade then; null: it was not.</param>
    /// <param name="Again">So often the upgrade was made again since.</param>
    /// <param name="GivenUp">It was given up for this reason; null: it was not.</param>
    private record struct Course(TimeSpan? Called, int Again, string? GivenUp);

    /// <summary>Holds the place at which the state is converted, and what is known there.</summary>
    /// <param name="Lsn">Everything below is executed.</param>
    /// <param name="RecordsEnd">The last page with records ends here.</param>
    private sealed record ConvertedPlace(
        Lsn Lsn, Lsn PageLsn, Lsn RecordsEnd, ReplayState State, uint From, BuildId? Build, TimeSpan Begun)
    {
        /// <summary>Hashes of the checkpoint's parts, once its image is whole.</summary>
        public StateDigest Hashes { get; set; }

        /// <summary>The record was appended at the log's end there.</summary>
        public Lsn RecordAt { get; set; }
    }
}

/// <summary>Says what a session does before it tells its app to become primary; nothing of both: it does that now.</summary>
/// <param name="Convert">It asks the app for this.</param>
/// <param name="Target">It gives the app what is below this first.</param>
/// <param name="Waits">It waits until it is woken.</param>
internal readonly record struct UpgradeStep(ConvertFrame? Convert = null, Lsn? Target = null, bool Waits = false)
{
    public static UpgradeStep Wait { get; } = new(Waits: true);
}

/// <summary>Declares the events of upgrades.</summary>
internal static partial class UpgradeEvents
{
    /// <summary>The upgrade's record is durable: from here on the new version executes this log, on every replica.</summary>
    [LoggerMessage(EventId = 841, EventName = "upgrade.done", Level = LogLevel.Information,
        Message = "version {To} is in force behind version {From}, from {Place} on")]
    public static partial void UpgradeDone(this ILogger logger, uint from, uint to, Lsn place);

    /// <summary>
    /// The upgrade failed before its record, and the same process goes on with the version before. Nothing is lost; mend what the line says
    /// and start the replica again.
    /// </summary>
    [LoggerMessage(EventId = 842, EventName = "upgrade.given.up", Level = LogLevel.Error,
        Message = "upgrade to version {To} given up; version {From} goes on as primary of epoch {Epoch}: {Why}")]
    public static partial void UpgradeGivenUp(this ILogger logger, uint to, uint from, Epoch epoch, string why);

    /// <summary>What the app has just tried on a copy of its state worked: the upgrade itself may begin.</summary>
    [LoggerMessage(EventId = 843, EventName = "upgrade.rehearsed", Level = LogLevel.Information,
        Message = "rehearsed at {Place}: a state of {Bytes} bytes becomes version {To} in {Milliseconds:0} ms; the upgrade begins now")]
    public static partial void UpgradeRehearsed(this ILogger logger, Lsn place, ulong bytes, uint to, double milliseconds);

    /// <summary>The app cannot convert the state as it is now. It is tried again; until it works nothing is claimed.</summary>
    [LoggerMessage(EventId = 844, EventName = "upgrade.refused", Level = LogLevel.Warning,
        Message = "rehearsal of the upgrade to version {To} at {Place} failed, and is repeated: {Why}")]
    public static partial void UpgradeRefused(this ILogger logger, uint to, Lsn place, string why);
}
