using Ambrosia.Log.Checkpoints;
using Ambrosia.Log.Fencing;
using Ambrosia.Log.Format;
using Ambrosia.Log.Instances;
using Ambrosia.Log.Segments;
using Ambrosia.Protocol;

namespace Ambrosia.Log.Recovery;

/// <summary>
/// Names the newest segment of which something beside the chain still tells (log-format L8.8). Whatever tells of a segment is made only
/// when that has its name durably, and the head of a chain is never truncated; so a log that ends before such a segment is short of it.
/// </summary>
/// <param name="Epoch">The epoch of the segment.</param>
/// <param name="Number">The number of the segment; 0 when only its epoch is told.</param>
/// <param name="By">The file that tells of it, or the catalog.</param>
internal sealed record ToldSegment(Epoch Epoch, ulong Number, string By)
{
    /// <summary>Returns the newest segment that is told of; null when nothing tells of any.</summary>
    /// <param name="published">The epoch that the catalog has of this instance; null when it has none.</param>
    public static ToldSegment? Newest(LogLocation location, Epoch? published)
    {
        ToldSegment? newest = published is { } epoch ? new ToldSegment(epoch, 0, "the entry in the catalog") : null;
        foreach (string name in location.List())
            if (Of(location, name) is { } told && (newest is null || told.IsNewerThan(newest))) newest = told;
        return newest;
    }

    /// <summary>Throws unless a chain reaches as far as is told.</summary>
    /// <exception cref="LogDamage">It ends before.</exception>
    public void Check(LogLocation location, LogChain chain)
    {
        LogSegment? head = chain.Segments is [.., var last] ? last : null;
        if (head is not null && (head.Epoch > Epoch || (head.Epoch == Epoch && head.Header.Number >= Number))) return;
        string missing = Number == 0 ? $"log.*.{Epoch}" : new SegmentFileName(Number, Epoch).ToString();
        throw new LogDamage(location.PathOf(missing), 0, null, $"a segment of epoch {Epoch}, of which {By} tells",
            head is null ? "no segment" : $"a log that ends with {head.Name}");
    }

    private static ToldSegment? Of(LogLocation location, string name)
    {
        if (SpareFileName.TryParse(name) is { } spare) return new ToldSegment(spare.Epoch, 0, name);
        if (CheckpointFileName.Parse(name) is { } checkpoint) return new ToldSegment(checkpoint.Epoch, 0, name);
        return PrimaryFileName.TryParse(name) is { } primary
            && PrimaryLock.ReadSegment(location.Files, location.PathOf(name)) is { } number
            ? new ToldSegment(primary.Epoch, number, name) : null;
    }

    private bool IsNewerThan(ToldSegment other) => Epoch > other.Epoch || (Epoch == other.Epoch && Number > other.Number);
}
