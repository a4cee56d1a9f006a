using Microsoft.Extensions.Logging;

namespace Ambrosia.Coordinator.Checkpoints;

/// <summary>Declares the events of checkpoints, and of the history that they make superfluous.</summary>
internal static partial class CheckpointEvents
{
    /// <summary>A checkpoint has its name: it is whole, flushed, and counts from now on.</summary>
    [LoggerMessage(EventId = 301, EventName = "checkpoint.published", Level = LogLevel.Information,
        Message = "checkpoint {File}")]
    public static partial void CheckpointPublished(this ILogger logger, string file);

    /// <summary>
    /// A checkpoint could not be made, or that of another replica is removed because it differs or is damaged. The next mark tries again.
    /// </summary>
    [LoggerMessage(EventId = 302, EventName = "checkpoint.failed", Level = LogLevel.Warning,
        Message = "checkpoint given up: {Why}")]
    public static partial void CheckpointFailed(this ILogger logger, string why);

    /// <summary>
    /// The app cannot write its state down yet, because handlers are suspended. It is tried again at the next mark.
    /// </summary>
    [LoggerMessage(EventId = 303, EventName = "checkpoint.waits", Level = LogLevel.Information,
        Message = "checkpoint waits: {Why}")]
    public static partial void CheckpointWaits(this ILogger logger, string why);

    /// <summary>
    /// The state holds what no checkpoint can hold, or does not come back from one as it was. Until the app takes that out of it no
    /// checkpoint is published, the log grows, and a start executes it from the older one. It is written once for each reason.
    /// </summary>
    [LoggerMessage(EventId = 313, EventName = "checkpoint.refused", Level = LogLevel.Error,
        Message = "no checkpoint: {Why}")]
    public static partial void CheckpointRefused(this ILogger logger, string why);

    /// <summary>A secondary that has diverged takes back what may hold the difference.</summary>
    [LoggerMessage(EventId = 304, EventName = "checkpoint.removed", Level = LogLevel.Warning,
        Message = "checkpoint {File} is removed: it was made by this replica behind the last position at which it agreed with the log")]
    public static partial void CheckpointRemoved(this ILogger logger, string file);

    /// <summary>
    /// Another secondary has published another state than this one has. The next checkpoint of the primary decides which of them is wrong,
    /// and that one ends with 70.
    /// </summary>
    [LoggerMessage(EventId = 310, EventName = "checkpoint.differs", Level = LogLevel.Warning,
        Message = "checkpoint {File} of another secondary differs from the state here; the primary's next one decides")]
    public static partial void CheckpointDiffers(this ILogger logger, string file);

    /// <summary>
    /// Another replica runs and has not found its state equal to any of so many checkpoints: it has no app, or its app is far behind.
    /// History is removed behind them all the same, and a state that is wrong may be all that is left. Look at that replica's status.
    /// </summary>
    [LoggerMessage(EventId = 311, EventName = "checkpoint.unconfirmed", Level = LogLevel.Warning,
        Message = "checkpoint: no second execution has confirmed the last {Count}; the log is truncated behind them all the same")]
    public static partial void CheckpointsUnconfirmed(this ILogger logger, int count);

    /// <summary>
    /// A secondary that has diverged could not take its checkpoints back. Remove those that it made since it last agreed with the log.
    /// </summary>
    [LoggerMessage(EventId = 305, EventName = "checkpoint.remained", Level = LogLevel.Error,
        Message = "checkpoint: those of this replica stay: {Why}")]
    public static partial void CheckpointsRemained(this ILogger logger, string why);

    /// <summary>The replica that was to take a checkpoint has not, and the next mark names a replica again.</summary>
    [LoggerMessage(EventId = 306, EventName = "checkpoint.reassigned", Level = LogLevel.Warning,
        Message = "checkpoint: replica {Replica} was to take it and is gone, or does nothing; it is assigned anew")]
    public static partial void CheckpointReassigned(this ILogger logger, string replica);

    /// <summary>The file does not read back. Look after the disk; it is written once for each file.</summary>
    [LoggerMessage(EventId = 307, EventName = "checkpoint.damaged", Level = LogLevel.Error,
        Message = "checkpoint {File} is damaged: it is not counted among those that stay, and older ones are kept instead")]
    public static partial void CheckpointDamaged(this ILogger logger, string file);

    /// <summary>A session of the app cannot begin from this checkpoint and takes an older one, which makes the replay longer.</summary>
    [LoggerMessage(EventId = 308, EventName = "checkpoint.skipped", Level = LogLevel.Warning,
        Message = "checkpoint {File} is passed over: {Why}")]
    public static partial void CheckpointSkipped(this ILogger logger, string file, string why);

    /// <summary>
    /// The app cannot restore this checkpoint: it begins with an older one, from which it executes the log again, and the file stays. Start
    /// the build that wrote it, or mend what the line names. It is written once for each file and process.
    /// </summary>
    [LoggerMessage(EventId = 314, EventName = "checkpoint.unrestorable", Level = LogLevel.Error,
        Message = "checkpoint {File} is passed over: the app cannot restore it: {Why}")]
    public static partial void CheckpointUnrestorable(this ILogger logger, string file, string why);

    /// <summary>
    /// A tool or a slow or stopped replica reads the log, so nothing is removed before --hold-limit. If it lasts, find the reader; it is
    /// written once for each file.
    /// </summary>
    [LoggerMessage(EventId = 309, EventName = "checkpoint.history.held", Level = LogLevel.Warning,
        Message = "{Path} is held by a reader: it and what follows stay until it is released, or until --hold-limit")]
    public static partial void HistoryHeld(this ILogger logger, string path);

    /// <summary>
    /// A tool or a replica, most often one that was stopped, has kept the segment for longer than --hold-limit says. It is left behind when
    /// it goes on, and says so; a replica begins again from the newest checkpoint.
    /// </summary>
    [LoggerMessage(EventId = 312, EventName = "checkpoint.history.taken", Level = LogLevel.Warning,
        Message = "{Path} is removed although a reader holds it since {Since:u}: {Mebibytes} MiB of log were kept for it (--hold-limit)")]
    public static partial void HistoryTaken(this ILogger logger, string path, DateTimeOffset since, long mebibytes);
}
