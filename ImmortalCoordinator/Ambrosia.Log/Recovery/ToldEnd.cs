using Ambrosia.Log.Fencing;
using Ambrosia.Log.Format;
using Ambrosia.Log.Instances;
using Ambrosia.Log.Segments;
using Ambrosia.Protocol;

namespace Ambrosia.Log.Recovery;

/// <summary>
/// Says how far a log was durable when its primary last beat (log-format L7.6, L8.9). Whole pages that became zeros at the end of the
/// newest segment look like a log that ended before them, and nothing else tells of them. The heartbeat's file is never flushed, so it may
/// be older than the log; what it says is true all the same, since the pages were flushed before it was written.
/// </summary>
/// <param name="Epoch">The epoch of the primary that has beaten.</param>
/// <param name="Durable">Everything below this was flushed and fence-checked.</param>
/// <param name="By">The file that says so.</param>
internal sealed record ToldEnd(Epoch Epoch, Lsn Durable, string By)
{
    /// <summary>Returns what the newest epoch's heartbeat says; null when none says anything. It is read before the tail.</summary>
    public static ToldEnd? Newest(LogLocation location)
    {
        ToldEnd? newest = null;
        foreach (string name in location.List())
        {
            if (PrimaryFileName.TryParse(name) is not { } primary || primary.Epoch < newest?.Epoch) continue;
            Lsn durable = PrimaryLock.ReadDurable(location.Files, location.PathOf(name));
            if (durable > Lsn.Zero) newest = new ToldEnd(primary.Epoch, durable, name);
        }
        return newest;
    }

    /// <summary>Throws unless the pages of the log reach as far as is told.</summary>
    /// <param name="head">The newest segment. A take-over has kept what the heartbeats of earlier epochs tell of, or has halted.</param>
    /// <param name="end">The place of the first page that is missing or torn.</param>
    /// <exception cref="LogDamage">Pages are missing that were durable.</exception>
    public void Check(LogSegment head, Lsn end)
    {
        if (Epoch != head.Epoch || end >= Durable) return;
        throw new LogDamage(head.Path, head.Header.OffsetOf(end), end, $"pages up to {Durable}, which were durable when {By} was written",
            $"none. Put the segment back from a copy; or remove {By}, and what stood there is lost");
    }
}
