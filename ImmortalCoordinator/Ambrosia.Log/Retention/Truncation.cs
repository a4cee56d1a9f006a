using Ambrosia.Log.Checkpoints;
using Ambrosia.Log.Commit;
using Ambrosia.Log.Instances;
using Ambrosia.Log.Segments;
using Ambrosia.Protocol;

namespace Ambrosia.Log.Retention;

/// <summary>
/// Removes what the retention policy does not keep: checkpoints older than those that stay, then whole segments below the oldest of these.
/// Segments go oldest first, so that whatever is left after a kill is a log like any other, and the next truncation does the rest. Only the
/// primary has one. It owns the headers that it has verified so far. One thread at a time.
/// </summary>
/// <param name="writer">It releases the segments, whose files it may write again.</param>
/// <param name="chain">The segments of the log that <paramref name="writer"/> writes.</param>
/// <param name="neededFrom">The app of this replica reads on from here, or will begin no later, so a checkpoint at or below it stays as
/// well; null means that no position is needed.</param>
/// <param name="holds">It says how long a reader may keep a segment; null lets readers keep it for ever.</param>
public sealed class Truncation(
    LogLocation location, LogWriter writer, LogChain chain, RetentionPolicy policy, Func<Lsn?>? neededFrom = null,
    SegmentHolds? holds = null)
{
    private readonly Dictionary<CheckpointFileName, CheckpointHeader> _verified = [];

    /// <summary>The checkpoints that are whole and that no app begins with: they do not count among those that stay.</summary>
    public Predicate<CheckpointFileName> IsUnusable { get; set; } = static _ => false;

    private bool _hasRemovedOrphans; // once is enough, when the chain is known to hold all that stays

    private Lsn OldestKept => chain.Segments.IsEmpty ? Lsn.Zero : chain.Segments[0].FirstLsn;

    /// <summary>
    /// Notes that the writer of this checkpoint has just read it back from the device, so that it is not verified again as long as it is
    /// the newest.
    /// </summary>
    public void MarkVerified(CheckpointHeader header) => _verified[header.FileName] = header;

    /// <summary>
    /// Keeps the checkpoints that the policy wants and that verify, and the log from the oldest of these on (I14). With fewer than it wants
    /// nothing is removed. It reads the checkpoints that it has not verified yet, and the second newest anew each time: all else rests on
    /// that one.
    /// </summary>
    public TruncateResult Truncate(DateTimeOffset now)
    {
        var kept = new List<CheckpointHeader>();
        var damaged = new List<CheckpointFileName>();
        var gone = new List<CheckpointFileName>();
        Lsn? needed = neededFrom?.Invoke();
        IReadOnlyList<CheckpointFileName> names = policy.KeepsAll ? [] : CheckpointDirectory.List(location.Files, location.Directory);
        foreach (CheckpointFileName name in names)
        {
            if (IsEnough(kept, now, needed)) gone.Add(name);
            else if (IsUnusable(name)) continue;
            else if (Verify(name, anew: kept.Count == 1) is not { } header) damaged.Add(name);
            else if (CheckpointVersion.WhatIsWrong(location, header, chain).Length == 0) kept.Add(header);
            else if (header.Epoch < writer.Epoch) gone.Add(name); // it is of an upgrade that never happened
        }
        if (!IsEnough(kept, now, needed)) return new TruncateResult(0, 0, damaged, OldestKept, null, []);
        foreach (CheckpointFileName name in _verified.Keys.Except(kept.Select(static k => k.FileName)).ToArray()) _verified.Remove(name);
        for (int i = gone.Count - 1; i >= 0; i--) Remove(gone[i]);
        Lsn keepFrom = kept.Min(static k => k.PageLsn);
        var taken = new List<SegmentHold>();
        LogSegment? held = TruncateLog(keepFrom, kept.Count, taken, out int removed);
        if (held is null && OldestKept <= keepFrom && !_hasRemovedOrphans)
        {
            _hasRemovedOrphans = true;
            removed += writer.RemoveOrphans();
        }
        if (gone.Count + removed > 0) location.Flush();
        return new TruncateResult(gone.Count, removed, damaged, OldestKept, held, taken);
    }

    private bool IsEnough(List<CheckpointHeader> kept, DateTimeOffset now, Lsn? needed) =>
        policy.IsEnough(kept, now) && (needed is null || kept[^1].Lsn <= needed);

    private CheckpointHeader? Verify(CheckpointFileName name, bool anew)
    {
        if (!anew && _verified.TryGetValue(name, out CheckpointHeader? known) && location.Files.Exists(location.PathOf(name.ToString())))
            return known;
        CheckpointHeader? header = CheckpointDirectory.TryReadHeader(location, name);
        if (header is not null) _verified[name] = header;
        return header;
    }

    private void Remove(CheckpointFileName name)
    {
        location.Files.Delete(location.PathOf(name.ToString()));
        location.Crash.Hit("truncate.afterUnlink");
    }

    /// <summary>
    /// Removes segments below <paramref name="keepFrom"/>, oldest first, and returns the segment that a reader holds, if one stopped it.
    /// What was held for too long is removed all the same, and added to <paramref name="taken"/>.
    /// </summary>
    private LogSegment? TruncateLog(Lsn keepFrom, int verified, List<SegmentHold> taken, out int removed)
    {
        removed = 0;
        while (chain.Segments is [var oldest, var next, ..] && next.FirstLsn <= keepFrom)
        {
            if (verified < RetentionPolicy.CheckpointsMin || next.FirstLsn > keepFrom)
                throw new InvalidOperationException(
                    $"I14: {oldest.Path} holds the log up to {next.FirstLsn}, which {verified} checkpoints from {keepFrom} on need");
            if (writer.Release(oldest) == SegmentRelease.Held)
            {
                if (holds is null || !holds.MustGo(oldest, keepFrom - oldest.FirstLsn)) return oldest; // it may need those behind it next
                if (writer.Release(oldest, evenIfHeld: true) == SegmentRelease.Taken && holds.Current is { } hold) taken.Add(hold);
            }
            removed++;
        }
        holds?.Clear();
        return null;
    }
}
