using Microsoft.Extensions.Logging;

namespace Ambrosia.Coordinator.Primary;

/// <summary>Declares the events of the clock by which a primary writes its log.</summary>
internal static partial class ClockEvents
{
    /// <summary>
    /// The clock of the machine was set, or the log was ahead of it at a take-over. Timers and what handlers see of the time are a tenth
    /// faster or slower than usual until the log's time and the clock are one again. Look at what sets the clock; nothing else is to be
    /// done.
    /// </summary>
    [LoggerMessage(EventId = 751, EventName = "log.clock.jumped", Level = LogLevel.Warning,
        Message = "the clock has jumped by {Seconds:F0} s; the log's time goes on evenly, {Ahead:F0} s ahead of it (below zero: behind), and comes nearer by a tenth of the time that passes")]
    public static partial void ClockJumped(this ILogger logger, double seconds, double ahead);
}
