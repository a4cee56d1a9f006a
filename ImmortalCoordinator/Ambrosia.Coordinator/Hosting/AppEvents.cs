using Ambrosia.Protocol;
using Microsoft.Extensions.Logging;

namespace Ambrosia.Coordinator.Hosting;

/// <summary>Declares the events of the app: its process and its channel.</summary>
internal static partial class AppEvents
{
    /// <summary>The app's process ended. Its own lines say why.</summary>
    [LoggerMessage(EventId = 801, EventName = "app.ended", Level = LogLevel.Warning,
        Message = "app ended with code {Code} after Lsn {Executed}; started again in {DelayMs:F0} ms")]
    public static partial void AppEnded(this ILogger logger, int code, Lsn executed, double delayMs);

    /// <summary>The app fails at one input, which the next line names. See --fork-policy.</summary>
    [LoggerMessage(EventId = 802, EventName = "app.stuck", Level = LogLevel.Error,
        Message = "app ended {Times} times at the same record, the one at or behind Lsn {Executed}: it does not get past it")]
    public static partial void AppStuck(this ILogger logger, int times, Lsn executed);

    /// <summary>
    /// No record ends the app, but what runs beside the handlers: BecomingPrimary, WhilePrimary, a thread that they start, a static
    /// constructor. Its own lines say which.
    /// </summary>
    [LoggerMessage(EventId = 815, EventName = "app.stuck.beside", Level = LogLevel.Error,
        Message = "app ended {Times} times, each time with everything executed, up to Lsn {Executed}: no record ends it, but what runs beside the handlers")]
    public static partial void AppStuckBeside(this ILogger logger, int times, Lsn executed);

    /// <summary>The body of a task ran when the app's process died. Whether it is the reason shows if it is so again.</summary>
    [LoggerMessage(EventId = 816, EventName = "task.suspected", Level = LogLevel.Warning,
        Message = "app ended with code {Code} while task {Task} ran, begun at Lsn {Lsn}: {Body}; for the {Deaths}. time, and {Others} other bodies ran")]
    public static partial void TaskSuspected(this ILogger logger, int code, ulong task, Lsn lsn, string body, int deaths, int others);

    /// <summary>
    /// A body that ends the process is run no more. Mend it and start the new build, or decide with 'ambrosia quarantine retry' or 'drop'.
    /// </summary>
    [LoggerMessage(EventId = 817, EventName = "task.setaside", Level = LogLevel.Error,
        Message = "task {Task}, begun at Lsn {Lsn}, is set aside: the app died each time while its body ran: {Body}. The next build runs it again")]
    public static partial void TaskSetAside(this ILogger logger, ulong task, Lsn lsn, string body);

    /// <summary>
    /// A connection is not, or no longer, the app's. The reason says who it was; at most a few lines a second are written, and the reason
    /// then counts those left out.
    /// </summary>
    [LoggerMessage(EventId = 803, EventName = "app.refused", Level = LogLevel.Warning,
        Message = "app channel: {Why}")]
    public static partial void AppRefused(this ILogger logger, string why, long leftOut);

    /// <summary>The system gives no connection of the app out, most often because the process has no descriptors left.</summary>
    [LoggerMessage(EventId = 804, EventName = "app.accept.failed", Level = LogLevel.Warning,
        Message = "app channel: accepting failed: {Why}")]
    public static partial void AppAcceptFailed(this ILogger logger, string why);

    /// <summary>The system gives connections of the app out again.</summary>
    [LoggerMessage(EventId = 805, EventName = "app.accept.resumed", Level = LogLevel.Information,
        Message = "app channel: accepting goes on, after {Failures} failures")]
    public static partial void AppAcceptResumed(this ILogger logger, long failures);

    /// <summary>
    /// The system does not start the app's program: it is being replaced, or processes, memory or descriptors have run out. It is tried
    /// again with pauses; a program that lasts to be missing or refused ends the coordinator with 2.
    /// </summary>
    [LoggerMessage(EventId = 808, EventName = "app.start.failed", Level = LogLevel.Warning,
        Message = "the app '{Program}' cannot be started now: {Why}; it is tried again")]
    public static partial void AppUnstartable(this ILogger logger, string program, string why);
}
