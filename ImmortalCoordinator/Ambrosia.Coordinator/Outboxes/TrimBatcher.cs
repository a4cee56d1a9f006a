using Ambrosia.Protocol.Locking;
using Ambrosia.Protocol.Records;

namespace Ambrosia.Coordinator.Outboxes;

/// <summary>
/// Step 11 of a call: what peers have acknowledged becomes a Trim record, so that every replica drops the same outputs at the same
/// place of the log. Owns the acknowledged positions that no record states yet. Any thread. Times are monotonic.
/// </summary>
internal sealed class TrimBatcher
{
    /// <summary>A record is due when this much is unlogged, or this long has passed since the first of it (design §6).</summary>
    private const long BytesDue = 16 << 20;

    /// <summary>The most positions in one record, so that it fits any page (L5.6); more take more records.</summary>
    public const int PositionsMax = 512;
    private static readonly TimeSpan s_timeDue = TimeSpan.FromSeconds(1);

    private readonly RankedLock _gate = new(LockRank.TrimBatcher);
    private readonly SortedDictionary<uint, ulong> _unlogged = [];
    private long _bytes;
    private TimeSpan? _since;

    /// <summary>The peer with this origin id has our calls up to <paramref name="number"/> durable.</summary>
    public void Acknowledged(uint origin, ulong number, long ackedBytes, TimeSpan now)
    {
        using (_gate.Enter())
        {
            if (_unlogged.TryGetValue(origin, out ulong before) && before >= number) return;
            _unlogged[origin] = number;
            _bytes += ackedBytes;
            _since ??= now;
        }
    }

    /// <summary>A due record found no room in the log: it is due again in a while.</summary>
    public void GiveBack(TrimRecord record, TimeSpan now)
    {
        foreach (TrimPosition position in record.Positions) Acknowledged(position.Origin, position.Number, 0, now);
    }

    /// <summary>The record that is due now, if one is.</summary>
    public TrimRecord? Due(TimeSpan now, bool atOnce = false)
    {
        using (_gate.Enter())
        {
            if (_since is not { } first || (!atOnce && _bytes < BytesDue && now - first < s_timeDue)) return null;
            var record = new TrimRecord([.. _unlogged.Take(PositionsMax).Select(static pair => new TrimPosition(pair.Key, pair.Value))]);
            foreach (TrimPosition stated in record.Positions) _unlogged.Remove(stated.Origin);
            if (_unlogged.Count > 0) return record; // the rest is due at once, too
            _bytes = 0;
            _since = null;
            return record;
        }
    }
}
