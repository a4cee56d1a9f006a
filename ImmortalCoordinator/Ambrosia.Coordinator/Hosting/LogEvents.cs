using Ambrosia.Protocol;
using Microsoft.Extensions.Logging;

namespace Ambrosia.Coordinator.Hosting;

/// <summary>Declares the events of the log: its tail at a take-over, space for a start, and a reader that came too late.</summary>
internal static partial class LogEvents
{
    /// <summary>
    /// The end of the log was being written when the process or the machine ended. Nothing of what is dropped was acknowledged.
    /// </summary>
    [LoggerMessage(EventId = 701, EventName = "log.tail.cut", Level = LogLevel.Warning,
        Message = "torn tail: dropped {Bytes} bytes at Lsn {At} (byte {Offset} of {File}); {Reason}; durable up to {Durable}")]
    public static partial void TailCut(this ILogger logger, long bytes, Lsn at, long offset, string file, string reason, Lsn durable);

    /// <summary>
    /// This replica has to make a file before it can begin or be primary. Give the disk space; it goes on by itself.
    /// </summary>
    [LoggerMessage(EventId = 706, EventName = "log.full.start", Level = LogLevel.Error,
        Message = "THE LOG'S DISK IS FULL: nothing is lost, but this replica waits with its start until there is space ({Why})")]
    public static partial void NoSpaceToBegin(this ILogger logger, string why);

    /// <summary>
    /// Descriptors, memory or threads have run out. It is tried again each second; raise the limit (ulimit -n, TasksMax), or see who uses
    /// them up.
    /// </summary>
    [LoggerMessage(EventId = 707, EventName = "start.refused", Level = LogLevel.Warning,
        Message = "this replica waits with its start for what the system refuses now: {Why}")]
    public static partial void RefusedForNow(this ILogger logger, string why);

    /// <summary>
    /// This follower was too slow, or was stopped for longer than --hold-limit, and what it needs next is gone. If it happens again, keep
    /// more history (--retain) or give it a faster machine.
    /// </summary>
    [LoggerMessage(EventId = 704, EventName = "log.left.behind", Level = LogLevel.Warning,
        Message = "the log at {Next} was removed before it was delivered: the app begins again from the newest checkpoint")]
    public static partial void LeftBehind(this ILogger logger, Lsn next);

    /// <summary>
    /// A segment below the newest checkpoint is gone, and no truncation has removed it. The state does not need it. Put it back from a copy
    /// if its history is wanted; otherwise older segments are removed by the next truncation.
    /// </summary>
    [LoggerMessage(EventId = 705, EventName = "log.history.missing", Level = LogLevel.Warning,
        Message = "{Missing} is not there although {Older} is: the log can be read from Lsn {From} on, and a checkpoint holds what came before")]
    public static partial void HistoryMissing(this ILogger logger, string missing, string older, Lsn from);
}
