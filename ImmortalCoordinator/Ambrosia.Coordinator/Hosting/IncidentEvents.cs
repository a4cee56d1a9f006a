using Microsoft.Extensions.Logging;

namespace Ambrosia.Coordinator.Hosting;

/// <summary>Declares the events that say at which message something went wrong.</summary>
internal static partial class IncidentEvents
{
    /// <summary>
    /// The app has died again and again at one record, or this replica has diverged and ends: this is the message, and Command stops just
    /// before it.
    /// </summary>
    [LoggerMessage(EventId = 806, EventName = "incident.message", Level = LogLevel.Error, Message = "{What}")]
    public static partial void IncidentExplained(this ILogger logger, string what, string place, string command);

    /// <summary>The app executes the log once more, in a view, so that the message can be named.</summary>
    [LoggerMessage(EventId = 807, EventName = "incident.search", Level = LogLevel.Information,
        Message = "the message is looked for from Lsn {From} on, for {Seconds:F0} s at most: the log is executed in a view")]
    public static partial void IncidentSearched(this ILogger logger, ulong from, double seconds);
}
