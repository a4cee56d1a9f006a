using Ambrosia.Protocol;

namespace Ambrosia.Coordinator;

/// <summary>What can be said of a divergence without executing anything again: the outboxes still hold the last calls. Pure.</summary>
internal static class FirstLook
{
    /// <summary>Of each channel that differs the first call that is another, as far as it is known.</summary>
    public static List<string> At(OutboxSet outboxes, DivergedStretch stretch, History history)
    {
        var found = new List<string>();
        foreach (Outbox outbox in outboxes.InOrder())
        {
            DigestEntry? counted = stretch.Counted.Cast<DigestEntry?>()
                .FirstOrDefault(entry => entry!.Value.Destination == outbox.Destination);
            if (outbox.Known.Number == 0 && counted is null || IsSame(outbox, counted) || history.Of(outbox.Destination) is not { } calls)
                continue;
            string? differs = Retrial.FirstLook(outbox, calls)?.ToString()
                ?? (counted is { } log ? Retrial.FirstMissing(outbox.Destination, outbox.Known.Number, log.Count, calls) : null);
            if (differs is not null) found.Add(differs);
        }
        return found;
    }

    private static bool IsSame(Outbox outbox, DigestEntry? counted) =>
        counted is { } log && outbox.TryPositionAt(log.Count, out ChannelPosition own) && own.Hash == log.Hash;
}
