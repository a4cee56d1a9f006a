using Ambrosia.Protocol;

namespace Ambrosia.Log;

/// <summary>
/// Removes what the retention policy does not want any more: checkpoints older than those that stay, then whole segments below the oldest
/// of these, oldest first, so that whatever is left after a kill is a log like any other; the next run does the rest. Only the primary has
/// one. Owns what it has verified so far. One thread at a time.
/// </summary>
/// <param name="release">What becomes of a segment that goes; null: its name is removed unless a reader holds it.</param>
/// <param name="removeOrphans">Removes segments that no chain leads to, and counts them; called once, when the chain is known to
/// hold all that stays.</param>
/// <param name="neededFrom">The app of this replica reads on from here, or will begin no later: a checkpoint at or below it stays as well.
/// Null: any will do.</param>
public sealed class Truncation(
    IFileSystem fs, string dir, InstanceIdentity identity, LogChain chain, Epoch epoch, RetentionPolicy policy, ICrashPoints crash,
    Func<LogSegment, SegmentRelease>? release = null, Func<int>? removeOrphans = null, Func<Lsn?>? neededFrom = null)
{
    private readonly Dictionary<CheckpointFileName, CheckpointHeader> _verified = [];
    private Func<int>? _removeOrphans = removeOrphans;

    /// <summary>Its writer has just read this one back from the device: it needs no second look as long as it is the newest.</summary>
    public void WasVerified(CheckpointHeader header) => _verified[header.FileName] = header;

    /// <summary>
    /// Keeps the checkpoints that the policy wants and that verify, and the log from the oldest of these on (I14). With fewer than it wants
    /// nothing is removed. Reads what it has not verified yet, and the second newest anew each time: it is the one that all else rests on.
    /// </summary>
    public TruncateResult Run(DateTimeOffset now)
    {
        var kept = new List<CheckpointHeader>();
        var damaged = new List<CheckpointFileName>();
        var gone = new List<CheckpointFileName>();
        Lsn? needed = neededFrom?.Invoke();
        IReadOnlyList<CheckpointFileName> names = policy.KeepsAll ? [] : Checkpoints.List(fs, dir);
        foreach (CheckpointFileName name in names)
        {
            if (IsEnough(kept, now, needed)) gone.Add(name);
            else if (Verify(name, anew: kept.Count == 1) is not { } header) damaged.Add(name);
            else if (chain.VersionAt(header.Lsn) >= header.AppVersion) kept.Add(header);
            else if (header.Epoch < epoch) gone.Add(name); // of an upgrade that never happened
        }
        if (!IsEnough(kept, now, needed)) return new TruncateResult(0, 0, damaged, OldestKept, null);
        foreach (CheckpointFileName name in _verified.Keys.Except(kept.Select(static k => k.FileName)).ToArray()) _verified.Remove(name);
        for (int i = gone.Count - 1; i >= 0; i--) Remove(Path.Combine(dir, gone[i].ToString()));
        Lsn keepFrom = kept.Min(static k => k.PageLsn);
        LogSegment? held = Truncate(keepFrom, kept.Count, out int removed);
        if (held is null && OldestKept <= keepFrom && _removeOrphans is { } remove)
        {
            _removeOrphans = null;
            removed += remove();
        }
        if (gone.Count + removed > 0) fs.FlushDirectory(dir);
        return new TruncateResult(gone.Count, removed, damaged, OldestKept, held);
    }

    private bool IsEnough(List<CheckpointHeader> kept, DateTimeOffset now, Lsn? needed) =>
        policy.IsEnough(kept, now) && (needed is null || kept[^1].Lsn <= needed);

    private Lsn OldestKept => chain.Segments.IsEmpty ? Lsn.Zero : chain.Segments[0].FirstLsn;

    private CheckpointHeader? Verify(CheckpointFileName name, bool anew)
    {
        if (!anew && _verified.TryGetValue(name, out CheckpointHeader? known) && fs.Exists(Path.Combine(dir, name.ToString())))
            return known;
        CheckpointHeader? header = Checkpoints.TryReadHeader(fs, dir, name, identity);
        if (header is not null) _verified[name] = header;
        return header;
    }

    private LogSegment? Truncate(Lsn keepFrom, int verified, out int removed)
    {
        removed = 0;
        while (chain.Segments is [var oldest, var next, ..] && next.FirstLsn <= keepFrom)
        {
            if (verified < RetentionPolicy.CheckpointsMin || next.FirstLsn > keepFrom)
                throw new InvalidOperationException(
                    $"I14: {oldest.Path} holds the log up to {next.FirstLsn}, which {verified} checkpoints from {keepFrom} on need");
            if ((release ?? Unlink)(oldest) == SegmentRelease.Held) return oldest; // whoever reads it may need the ones behind it next
            removed++;
        }
        return null;
    }

    private SegmentRelease Unlink(LogSegment oldest)
    {
        try
        {
            using IFile file = fs.Open(oldest.Path, FileUse.Read);
            if (!file.TryLock(FileLockKind.Exclusive)) return SegmentRelease.Held;
            chain.RemoveOldest(oldest);
            Remove(oldest.Path);
            fs.FlushDirectory(dir); // or a power loss could bring it back without its successor, as an orphan
        }
        catch (FileNotFoundException) // a truncation before us was killed, or a later primary was quicker
        {
            chain.RemoveOldest(oldest);
        }
        return SegmentRelease.Removed;
    }

    private void Remove(string path)
    {
        fs.Delete(path);
        crash.Hit("truncate.afterUnlink");
    }
}
