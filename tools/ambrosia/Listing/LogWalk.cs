using Ambrosia.Log.Checkpoints;
using Ambrosia.Log.Format;
using Ambrosia.Log.Reading;
using Ambrosia.Log.Segments;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Checkpoints;
using Ambrosia.Tools.Logs;
using Ambrosia.Tools.Output;
using Ambrosia.Tools.Records;

namespace Ambrosia.Tools.Listing;

/// <summary>
/// Goes through a log page by page, in bounded memory and past damage, which it reports where it meets it. It also reports what a live log
/// truncates meanwhile, and goes on behind that.
/// </summary>
internal sealed class LogWalk(LogDirectory log)
{
    /// <summary>Gets each page with the segment in which it stands.</summary>
    /// <returns>False if no more pages are wanted.</returns>
    public delegate bool PageTaker(PageBuffer page, LogSegment segment);

    /// <summary>True once there was damage on the way.</summary>
    public bool HasDamage { get; private set; }

    /// <summary>Goes through the log.</summary>
    /// <param name="tell">Gets damage and truncation as they are met.</param>
    /// <returns>How the log ended, or null where it was not read to its end, since no more was wanted.</returns>
    public ReadVerdict? Run(WalkStart start, PageTaker taker, Action<IReport> tell)
    {
        var options = new ScanOptions { From = start.Page, PreviousHash = start.PreviousHash, GoesOn = true, EndsWithHead = true };
        while (true)
        {
            using LogScan scan = LogScan.Open(log.Files, log.Path, log.Identity, options);
            int told = 0;
            while (scan.Next())
            {
                Tell(scan, ref told, tell);
                if (!taker(scan.Page, scan.Segment)) return null;
            }
            Tell(scan, ref told, tell);
            if (scan.Verdict is not ReadVerdict.Truncated gone) return scan.Verdict;
            tell(new TruncatedReport(gone.End.Value));
            options = new ScanOptions { GoesOn = true, EndsWithHead = true };
        }
    }

    private void Tell(LogScan scan, ref int told, Action<IReport> tell)
    {
        for (; told < scan.Lost.Count; told++)
        {
            HasDamage = true;
            tell(DamageReport.Of(scan.Lost[told].Why));
        }
    }
}

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
    public static WalkStart For(LogDirectory log, LogChain chain, Lsn wanted, OriginNames names)
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

    private static CheckpointHeader? NewestCheckpoint(LogDirectory log, Lsn oldest, OriginNames names)
    {
        foreach (CheckpointFileName name in CheckpointDirectory.List(log.Files, log.Path))
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

/// <summary>It reports that a live log was truncated while it was read. Reading goes on at the oldest page that is kept.</summary>
/// <param name="Truncated">The position that could no longer be read.</param>
internal sealed record TruncatedReport(ulong Truncated) : IReport
{
    public void Draw(Screen screen) =>
        screen.Line($"(the log from Lsn {Truncated} on was truncated meanwhile; going on behind it)", Tone.Warning);
}
