using Ambrosia.Log.Checkpoints;
using Ambrosia.Log.Format;
using Ambrosia.Log.Instances;
using Ambrosia.Log.Segments;
using Ambrosia.Protocol;

namespace Ambrosia.Log.Reading;

/// <summary>
/// Judges whether a log may begin where its oldest segment does: a log that does not begin at 0 was truncated below a checkpoint, or a
/// segment is missing (log-format L3.2). Any thread.
/// </summary>
internal static class LogBeginning
{
    /// <summary>Checks the beginning of a log.</summary>
    /// <exception cref="LogDamage">Nothing covers what is missing below the oldest segment.</exception>
    public static void Check(LogLocation location, LogSegment oldest)
    {
        if (oldest.Header.PredecessorNumber == 0 || IsBelowACheckpoint(location, oldest.FirstLsn)) return;
        var missing = new SegmentFileName(oldest.Header.PredecessorNumber, oldest.Header.PredecessorEpoch);
        throw new LogDamage(location.PathOf(missing.ToString()), 0, oldest.FirstLsn,
            $"the log below {oldest.FirstLsn}, or a valid checkpoint from there on", "neither");
    }

    /// <summary>
    /// Returns true when a valid checkpoint covers what is missing below <paramref name="oldest"/>. A live log replaces its checkpoints:
    /// those that were listed may all be gone before they are read, so the directory is listed until it stays the same.
    /// </summary>
    private static bool IsBelowACheckpoint(LogLocation location, Lsn oldest)
    {
        IReadOnlyList<CheckpointFileName> listed, before = [];
        while (!(listed = CheckpointDirectory.List(location.Files, location.Directory)).SequenceEqual(before))
        {
            foreach (CheckpointFileName name in listed)
                if (CheckpointReader.TryReadHeader(location, name) is { } header && header.PageLsn >= oldest
                    && CheckpointDirectory.TryReadHeader(location, name) is not null) return true;
            before = listed;
        }
        return false;
    }
}
