using Ambrosia.Protocol;

namespace Ambrosia.Coordinator;

/// <summary>
/// Step 11 of a call: what peers have acknowledged becomes a Trim record, so that every replica drops the same outputs at the same
/// place of the log. Owns the acknowledged positions that no record states yet. Any thread.
/// </summary>
internal sealed class TrimBook
{
    /// <summary>A record is due when this much is unlogged, or this long has passed since the first of it (design §6).</summary>
    private const long BytesDue = 16 << 20;

    /// <summary>Positions in one record, so that it fits any page (L5.6); more take more records.</summary>
    public const int PositionsMax = 512;
    private static readonly TimeSpan timeDue = TimeSpan.FromSeconds(1);

    private readonly Lock gate = new();
    private readonly SortedDictionary<uint, ulong> unlogged = [];
    private long bytes;
    private DateTimeOffset? since;

    /// <summary>The peer with this origin id has our calls up to <paramref name="number"/> durable.</summary>
    public void Acknowledged(uint origin, ulong number, long ackedBytes, DateTimeOffset now)
    {
        lock (gate)
        {
            if (unlogged.TryGetValue(origin, out ulong before) && before >= number) return;
            unlogged[origin] = number;
            bytes += ackedBytes;
            since ??= now;
        }
    }

    /// <summary>A due record found no room in the log: it is due again in a while.</summary>
    public void GiveBack(TrimRecord record, DateTimeOffset now)
    {
        foreach (TrimPosition position in record.Positions) Acknowledged(position.Origin, position.Number, 0, now);
    }

    /// <summary>The record that is due now, if one is.</summary>
    public TrimRecord? Due(DateTimeOffset now, bool atOnce = false)
    {
        lock (gate)
        {
            if (since is not { } first || (!atOnce && bytes < BytesDue && now - first < timeDue)) return null;
            var record = new TrimRecord([.. unlogged.Take(PositionsMax).Select(static pair => new TrimPosition(pair.Key, pair.Value))]);
            foreach (TrimPosition stated in record.Positions) unlogged.Remove(stated.Origin);
            if (unlogged.Count > 0) return record; // the rest is due at once, too
            bytes = 0;
            since = null;
            return record;
        }
    }
}
