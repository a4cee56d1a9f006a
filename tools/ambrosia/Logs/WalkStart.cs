using Ambrosia.Log;
using Ambrosia.Protocol;

namespace Ambrosia.Tools;

/// <summary>Where reading begins: at a page from which on every origin id has its name, not later than the place that is wanted.</summary>
/// <param name="Page">Null: the oldest page kept.</param>
/// <param name="PreviousHash">Of the page before, where a checkpoint vouches for it.</param>
internal sealed record WalkStart(Lsn? Page, ulong? PreviousHash)
{
    /// <summary>The newest checkpoint that can be read knows all names up to itself: reading begins there or before.</summary>
    /// <param name="wanted">First position that is wanted.</param>
    /// <param name="names">Gets the checkpoint's names.</param>
    public static WalkStart For(LogPlace place, LogChain chain, Lsn wanted, OriginNames names)
    {
        if (chain.Segments.IsEmpty || NewestCheckpoint(place, chain.Segments[0].FirstLsn, names) is not { } checkpoint)
            return new WalkStart(null, null);
        if (checkpoint.PageLsn <= wanted) return new WalkStart(checkpoint.PageLsn, checkpoint.PreviousHash);
        return chain.TryFind(wanted, out LogSegment segment, out _) && segment != chain.Segments[0] ? new WalkStart(segment.FirstLsn, null)
            : new WalkStart(null, null);
    }

    /// <summary>
    /// First position of the segment in which the pages of this time or later begin: no page before it has a later time than its header.
    /// </summary>
    public static Lsn LsnOf(LogChain chain, long timeMicros)
    {
        LogSegment? at = chain.Segments.LastOrDefault(segment => segment.Header.CreatedMicros < timeMicros);
        return at?.FirstLsn ?? Lsn.Zero;
    }

    private static CheckpointHeader? NewestCheckpoint(LogPlace place, Lsn oldest, OriginNames names)
    {
        foreach (CheckpointFileName name in Checkpoints.List(place.Files, place.Directory))
        {
            try
            {
                (CheckpointHeader header, CoordinatorPart part) = CheckpointSummary.Read(place, name);
                if (header.PageLsn < oldest) continue;
                names.Add(part);
                return header;
            }
            catch (Exception e) when (e is LogDamage or FileNotFoundException) { } // an older one serves too
        }
        return null;
    }
}
