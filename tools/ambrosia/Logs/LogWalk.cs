using Ambrosia.Log;
using Ambrosia.Protocol;

namespace Ambrosia.Tools;

/// <summary>
/// Goes through a log page by page in bounded memory and past damage, which it tells where it meets it. What a live log truncates meanwhile
/// is told too, and reading goes on behind it.
/// </summary>
internal sealed class LogWalk(LogPlace place)
{
    /// <summary>Gets each page; the segment is the one it stands in.</summary>
    /// <returns>False: no more are wanted.</returns>
    public delegate bool PageTaker(PageBuffer page, LogSegment segment);

    /// <summary>Set by a damage on the way.</summary>
    public bool HasDamage { get; private set; }

    /// <param name="tell">Gets damage and truncation as they are met.</param>
    /// <returns>How the log ended; null: not read to its end, since no more was wanted.</returns>
    public ReadVerdict? Run(WalkStart start, PageTaker taker, Action<IReport> tell)
    {
        var options = new ScanOptions { From = start.Page, PreviousHash = start.PreviousHash, GoesOn = true, EndsWithHead = true };
        while (true)
        {
            using LogScan scan = LogScan.Open(place.Files, place.Directory, place.Identity, options);
            int told = 0;
            while (scan.Next())
            {
                Tell(scan, ref told, tell);
                if (!taker(scan.Page, scan.Segment)) return null;
            }
            Tell(scan, ref told, tell);
            if (scan.Verdict is not ReadVerdict.Gone gone) return scan.Verdict;
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
