using System.Collections.Concurrent;
using Ambrosia.Coordinator.LogFeed;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Records;

namespace Ambrosia.Coordinator.Checkpoints;

/// <summary>
/// Puts the hash of the primary's state at each checkpoint's place into its log, and keeps the last few that the log told a secondary.
/// Nothing waits for such a record: one that finds no room is left out. Any thread.
/// </summary>
internal sealed class StateHashes(LogAppender log)
{
    private const int PlacesMax = 8;

    private readonly ConcurrentQueue<StateHashRecord> _recorded = new();

    /// <summary>The primary's app has had this state.</summary>
    public void Append(Lsn place, ulong hash)
    {
        if (log.TryAppend(new StateHashRecord(place, hash), out _))
            log.WakeCommitter(drained: false);
    }

    /// <summary>The log says what state a primary had.</summary>
    public void Recorded(StateHashRecord record)
    {
        _recorded.Enqueue(record);
        while (_recorded.Count > PlacesMax) _recorded.TryDequeue(out _);
    }

    /// <summary>Returns the hash that the log has told of a place; null: none.</summary>
    public ulong? At(Lsn place)
    {
        foreach (StateHashRecord record in _recorded)
            if (record.Place == place) return record.Hash;
        return null;
    }
}
