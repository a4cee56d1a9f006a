using Microsoft.Extensions.Logging;

namespace Ambrosia.Coordinator.Hosting;

/// <summary>Declares the events of the admin socket.</summary>
internal static partial class AdminEvents
{
    /// <summary>The socket could not be opened in the directory of the log.</summary>
    [LoggerMessage(EventId = 901, EventName = "admin.missing", Level = LogLevel.Warning,
        Message = "no admin socket: {Why}. The replica runs without; tools cannot ask it.")]
    public static partial void AdminMissing(this ILogger logger, string why);

    /// <summary>The system gives no connection of a tool out. It is tried again.</summary>
    [LoggerMessage(EventId = 902, EventName = "admin.accept.failed", Level = LogLevel.Warning,
        Message = "admin socket: accepting failed: {Why}")]
    public static partial void AdminAcceptFailed(this ILogger logger, string why);

    /// <summary>The system gives connections of tools out again.</summary>
    [LoggerMessage(EventId = 904, EventName = "admin.accept.resumed", Level = LogLevel.Information,
        Message = "admin socket: accepting goes on, after {Failures} failures")]
    public static partial void AdminAcceptResumed(this ILogger logger, long failures);

    /// <summary>The answer to a tool failed on the disk.</summary>
    [LoggerMessage(EventId = 903, EventName = "admin.failed", Level = LogLevel.Warning,
        Message = "admin socket: {Why}")]
    public static partial void AdminFailed(this ILogger logger, string why);
}
