using Ambrosia.Protocol;

namespace Ambrosia.Log;

/// <summary>The checkpoints of a directory, and the truncation of what they make superfluous. Only the primary removes anything.</summary>
public static class Checkpoints
{
    private const int KeepMin = 2;

    /// <summary>Names, newest first; nothing is verified.</summary>
    public static IReadOnlyList<CheckpointFileName> List(IFileSystem fs, string dir)
    {
        var names = new List<CheckpointFileName>();
        foreach (string name in fs.List(dir))
            if (CheckpointFileName.Parse(name) is { } checkpoint) names.Add(checkpoint);
        names.Sort((a, b) => b.CompareTo(a));
        return names;
    }

    /// <summary>Verifies a whole checkpoint. False: damaged, or not there.</summary>
    public static bool IsValid(IFileSystem fs, string dir, CheckpointFileName name, InstanceIdentity identity) =>
        TryReadHeader(fs, dir, name, identity) is not null;

    /// <summary>
    /// Keeps the newest <paramref name="keep"/> checkpoints that verify, and the log from the oldest of these on; removes older ones and whole
    /// segments below (I14). With fewer than <paramref name="keep"/> nothing is removed. Reads the checkpoints that it keeps.
    /// </summary>
    /// <param name="release">What the primary does with a segment that goes; null: its name is removed.</param>
    public static TruncateResult RemoveOlder(IFileSystem fs, string dir, InstanceIdentity identity, LogChain chain, ICrashPoints crash, int keep = KeepMin,
        Func<LogSegment, SegmentRelease>? release = null)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(keep, KeepMin);
        var verified = new List<CheckpointHeader>();
        var damaged = new List<CheckpointFileName>();
        var older = new List<CheckpointFileName>();
        foreach (CheckpointFileName name in List(fs, dir))
        {
            if (verified.Count == keep) older.Add(name);
            else if (TryReadHeader(fs, dir, name, identity) is { } header) verified.Add(header);
            else damaged.Add(name);
        }
        if (verified.Count < keep) return new TruncateResult(0, 0, damaged, chain.Segments.IsEmpty ? Lsn.Zero : chain.Segments[0].FirstLsn);
        foreach (CheckpointFileName name in older) Remove(fs, dir, name.ToString(), crash);
        Lsn keepFrom = verified[0].PageLsn;
        foreach (CheckpointHeader header in verified)
            if (header.PageLsn < keepFrom) keepFrom = header.PageLsn;
        int segments = Truncate(chain, keepFrom, verified.Count, release ?? (oldest => Unlink(fs, dir, chain, oldest, crash)));
        if (older.Count + segments > 0) fs.FlushDirectory(dir);
        return new TruncateResult(older.Count, segments, damaged, chain.Segments.IsEmpty ? Lsn.Zero : chain.Segments[0].FirstLsn);
    }

    private static int Truncate(LogChain chain, Lsn keepFrom, int verified, Func<LogSegment, SegmentRelease> release)
    {
        int removed = 0;
        while (chain.Segments is [var oldest, var next, ..] && next.FirstLsn <= keepFrom)
        {
            if (verified < KeepMin || next.FirstLsn > keepFrom)
                throw new InvalidOperationException($"I14: {oldest.Path} holds the log up to {next.FirstLsn}, which {verified} checkpoints from {keepFrom} on need");
            if (release(oldest) == SegmentRelease.Held) break; // whoever reads it may need the ones behind it next
            removed++;
        }
        return removed;
    }

    private static SegmentRelease Unlink(IFileSystem fs, string dir, LogChain chain, LogSegment oldest, ICrashPoints crash)
    {
        chain.RemoveOldest(oldest);
        Remove(fs, dir, oldest.Name.ToString(), crash);
        return SegmentRelease.Removed;
    }

    private static void Remove(IFileSystem fs, string dir, string name, ICrashPoints crash)
    {
        fs.Delete(Path.Combine(dir, name));
        crash.Hit("truncate.afterUnlink");
    }

    private static CheckpointHeader? TryReadHeader(IFileSystem fs, string dir, CheckpointFileName name, InstanceIdentity identity)
    {
        try
        {
            using CheckpointReader reader = CheckpointReader.Open(fs, Path.Combine(dir, name.ToString()), identity);
            return reader.Header;
        }
        catch (LogDamage)
        {
            return null;
        }
        catch (FileNotFoundException)
        {
            return null;
        }
    }
}
