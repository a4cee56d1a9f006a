using Microsoft.Extensions.Logging;

namespace Ambrosia.Coordinator.Primary;

/// <summary>Tells operators how a primary that was asked to end leaves its log.</summary>
internal static partial class EndEvents
{
    /// <summary>
    /// A primary was asked to end while a standby moved and had caught up: the standby goes on, and no checkpoint is waited for.
    /// </summary>
    [LoggerMessage(EventId = 614, EventName = "coordinator.handed.over", Level = LogLevel.Information,
        Message = "replica {Successor} has caught up and goes on")]
    public static partial void HandedOver(this ILogger logger, string successor);

    /// <summary>
    /// A primary was asked to end, and no replica that runs could go on at once: it takes a last checkpoint, as one that is alone does.
    /// Look at the replicas that the line names.
    /// </summary>
    [LoggerMessage(EventId = 620, EventName = "coordinator.follower.missing", Level = LogLevel.Warning,
        Message = "no replica goes on at once ({Why}), so a last checkpoint is taken")]
    public static partial void NoneFollows(this ILogger logger, string why);

    /// <summary>
    /// A primary was asked to end, and its log ends without a checkpoint of all that was taken: the next start executes the rest again.
    /// Nothing is lost. Give it more time with --stop-within if that is the reason.
    /// </summary>
    [LoggerMessage(EventId = 615, EventName = "coordinator.end.uncovered", Level = LogLevel.Warning,
        Message = "ends without a last checkpoint, so the next start executes more again: {Why}")]
    public static partial void EndsWithoutCheckpoint(this ILogger logger, string why);
}
