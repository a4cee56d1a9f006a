using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Log.Instances;
using Ambrosia.Log.Reading;

namespace Ambrosia.Log.Tests;

/// <summary>A log of several segments and epochs, with records of all sizes, some of which span pages.</summary>
internal static class LongLog
{
    /// <summary>Lets primaries write, one behind the other; a log that is there goes on.</summary>
    /// <param name="marks">Whether each ends with a mark.</param>
    /// <returns>The records, in their order.</returns>
    public static List<LoggedRecord> Write(IFileSystem fs, string dir, int epochs, int records, bool marks = true)
    {
        var written = new List<LoggedRecord>();
        for (int epoch = 0; epoch < epochs; epoch++)
        {
            using Primary primary = Primary.Start(fs, dir, Primary.Small with { SegmentBytes = 64 << 10, PageBytes = 8 << 10, Pages = 16 });
            for (int i = 0; i < records; i++)
            {
                written.Add(primary.Append(new byte[300 * i % 7_000]));
                if (i % 3 == 0) primary.Commit();
                if (i % 11 == 5) written.Add(primary.AppendSpanning(new byte[20_000 + i]));
            }
            primary.Commit();
            if (marks && primary.Writer.AppendMark()) primary.Commit();
        }
        return written;
    }

    /// <summary>Returns the headers of all its pages.</summary>
    public static List<PageHeader> Pages(IFileSystem fs, string dir, InstanceIdentity identity)
    {
        var pages = new List<PageHeader>();
        using LogScan scan = LogScan.Open(fs, dir, identity);
        while (scan.Next()) pages.Add(scan.Page.Header);
        return pages;
    }
}
