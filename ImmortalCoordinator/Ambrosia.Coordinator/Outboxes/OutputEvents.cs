using Ambrosia.Protocol;
using Microsoft.Extensions.Logging;

namespace Ambrosia.Coordinator.Outboxes;

/// <summary>Declares the events of outputs that have no room.</summary>
internal static partial class OutputEvents
{
    /// <summary>The app has waited for a second, because peers have not taken as much as may be kept.</summary>
    [LoggerMessage(EventId = 401, EventName = "output.waits.limit", Level = LogLevel.Warning,
        Message = "outputs wait: {Mebibytes} MiB on disk that peers have not taken, most of it for {Peer}, and more may not be kept. The app goes on when peers take some; one that is gone for good is given up with 'ambrosia forget-peer {Directory} NAME'")]
    public static partial void OutputsWaitByLimit(this ILogger logger, long mebibytes, InstanceId peer, string directory);

    /// <summary>The app has waited for a second, because the disk has no room for more outputs beside the log.</summary>
    [LoggerMessage(EventId = 402, EventName = "output.waits.disk", Level = LogLevel.Warning,
        Message = "outputs wait: the disk has no room beside the log for more than the {Mebibytes} MiB that peers have not taken, most of it for {Peer}. The app goes on when there is space in {Directory}, or when peers take some")]
    public static partial void OutputsWaitForDisk(this ILogger logger, long mebibytes, InstanceId peer, string directory);

    /// <summary>The wait is over.</summary>
    [LoggerMessage(EventId = 403, EventName = "output.resumed", Level = LogLevel.Information,
        Message = "outputs go on: there is room for them again")]
    public static partial void OutputsResumed(this ILogger logger);
}
