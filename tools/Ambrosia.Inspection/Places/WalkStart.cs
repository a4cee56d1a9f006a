using Ambrosia.Inspection.Checkpoints;
using Ambrosia.Inspection.Records;
using Ambrosia.Log.Checkpoints;
using Ambrosia.Log.Format;
using Ambrosia.Log.Instances;
using Ambrosia.Log.Segments;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Checkpoints;

namespace Ambrosia.Inspection.Places;

/// <summary>
/// The place where reading begins. It is not later than the place that is wanted, and from it on every origin id has a name.
/// </summary>
/// <param name="Page">The position of the page, or null for the oldest page that is kept.</param>
/// <param name="PreviousHash">The hash of the page before it, where a checkpoint states it.</param>
internal sealed record WalkStart(Lsn? Page, ulong? PreviousHash)
{
    /// <summary>Chooses the place: at the newest checkpoint that can be read, which knows all names up to itself, or before it.</summary>
    /// <param name="wanted">The first position that is wanted.</param>
    /// <param name="names">Gets the names that the checkpoint knows.</param>
    public static WalkStart For(LogLocation log, LogChain chain, Lsn wanted, OriginNames names)
    {
        if (chain.Segments.IsEmpty || NewestCheckpoint(log, chain.Segments[0].FirstLsn, names) is not { } checkpoint)
            return new WalkStart(null, null);
        if (checkpoint.PageLsn <= wanted) return new WalkStart(checkpoint.PageLsn, checkpoint.PreviousHash);
        return chain.TryFind(wanted, out LogSegment segment, out _) && segment != chain.Segments[0] ? new WalkStart(segment.FirstLsn, null)
            : new WalkStart(null, null);
    }

    /// <summary>
    /// Returns the first position of the segment in which the pages of this time or later begin. No page before it has a later time than
    /// its header.
    /// </summary>
    public static Lsn LsnOf(LogChain chain, long timeMicros)
    {
        LogSegment? at = chain.Segments.LastOrDefault(segment => segment.Header.CreatedMicros < timeMicros);
        return at?.FirstLsn ?? Lsn.Zero;
    }

    private static CheckpointHeader? NewestCheckpoint(LogLocation log, Lsn oldest, OriginNames names)
    {
        foreach (CheckpointFileName name in CheckpointDirectory.List(log.Files, log.Directory))
        {
            try
            {
                (CheckpointHeader header, CoordinatorPart part) = CheckpointSummary.Read(log, name);
                if (header.PageLsn < oldest) continue;
                names.Add(part);
                return header;
            }
            catch (Exception e) when (e is LogDamage or FileNotFoundException) { } // an older checkpoint serves too
        }
        return null;
    }
}
