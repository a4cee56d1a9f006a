using Ambrosia.Protocol;
using Microsoft.Extensions.Logging;

namespace Ambrosia.Coordinator.Divergence;

/// <summary>Declares the events of a secondary whose app made other calls than the log says.</summary>
internal static partial class DivergenceEvents
{
    /// <summary>The app's calls differ somewhere in this stretch. The line at the exit (70) names the record.</summary>
    [LoggerMessage(EventId = 501, EventName = "divergence.replay", Level = LogLevel.Error,
        Message = "divergence: the log between {From} and {To} is executed again, record by record; this replica ends then")]
    public static partial void DivergenceReplayed(this ILogger logger, Lsn from, Lsn to);

    /// <summary>The log of an instance that was called cannot be read from here, so calls to it are not compared.</summary>
    [LoggerMessage(EventId = 502, EventName = "divergence.history.unknown", Level = LogLevel.Warning,
        Message = "divergence: what the log of {Receiver} has is not known: {Why}")]
    public static partial void CallHistoryUnknown(this ILogger logger, InstanceId receiver, string why);
}
