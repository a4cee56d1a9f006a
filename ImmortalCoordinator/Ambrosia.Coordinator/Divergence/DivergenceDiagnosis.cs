using Ambrosia.Coordinator.Outboxes;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Records;
using Microsoft.Extensions.Logging;

namespace Ambrosia.Coordinator.Divergence;

/// <summary>What can be said of a divergence without executing anything again: the outboxes still hold the last calls. Pure.</summary>
internal static class DivergenceDiagnosis
{
    /// <summary>Names the first call that is another on each channel that differs, as far as it is known.</summary>
    public static List<string> At(OutboxSet outboxes, DivergedStretch stretch, CallHistory history)
    {
        var found = new List<string>();
        foreach (Outbox outbox in outboxes.InOrder())
        {
            DigestEntry? counted = stretch.Counted.Cast<DigestEntry?>()
                .FirstOrDefault(entry => entry!.Value.Destination == outbox.Destination);
            if (outbox.Known.Number == 0 && counted is null || IsSame(outbox, counted) || history.Of(outbox.Destination) is not { } calls)
                continue;
            string? differs = DivergenceReplay.FirstDifference(outbox, calls)?.ToString()
                ?? (counted is { } log ? DivergenceReplay.FirstMissing(outbox.Destination, outbox.Known.Number, log.Count, calls) : null);
            if (differs is not null) found.Add(differs);
        }
        return found;
    }

    private static bool IsSame(Outbox outbox, DigestEntry? counted) =>
        counted is { } log && outbox.TryPositionAt(log.Count, out ChannelPosition own) && own.Hash == log.Hash;
}

/// <summary>Between two positions of the log an app has made other calls than the log's.</summary>
/// <param name="From">Up to here all were the same.</param>
/// <param name="To">Here they were not.</param>
/// <param name="Counted">What the log says of the channels at <paramref name="To"/>; empty: nothing.</param>
internal sealed record DivergedStretch(Lsn From, Lsn To, IReadOnlyList<DigestEntry> Counted);

/// <summary>Declares the events of a secondary whose app made other calls than the log says.</summary>
internal static partial class DivergenceEvents
{
    /// <summary>The app's calls differ somewhere in this stretch. The line at the exit (70) names the record.</summary>
    [LoggerMessage(EventId = 501, EventName = "divergence.replay", Level = LogLevel.Error,
        Message = "divergence: the log between {From} and {To} is executed again, record by record; this replica ends then")]
    public static partial void DivergenceReplayed(this ILogger logger, Lsn from, Lsn to);

    /// <summary>The log of an instance that was called cannot be read from here, so calls to it are not compared.</summary>
    [LoggerMessage(EventId = 502, EventName = "divergence.history.unknown", Level = LogLevel.Warning,
        Message = "what the log of {Receiver} has is not known: {Why}")]
    public static partial void CallHistoryUnknown(this ILogger logger, InstanceId receiver, string why);
}
