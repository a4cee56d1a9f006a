using Ambrosia.Inspection.Places;
using Ambrosia.Inspection.Records;
using Ambrosia.Log.Checkpoints;
using Ambrosia.Log.Format;
using Ambrosia.Log.Reading;
using Ambrosia.Log.Segments;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Checkpoints;
using Ambrosia.Tools.Logs;
using Ambrosia.Tools.Output;

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

/// <summary>It reports that a live log was truncated while it was read. Reading goes on at the oldest page that is kept.</summary>
/// <param name="Truncated">The position that could no longer be read.</param>
internal sealed record TruncatedReport(ulong Truncated) : IReport
{
    public void Draw(Screen screen) =>
        screen.Line($"(the log from Lsn {Truncated} on was truncated meanwhile; going on behind it)", Tone.Warning);
}
