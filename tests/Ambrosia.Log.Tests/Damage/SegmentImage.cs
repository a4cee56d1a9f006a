using Ambrosia.Log.Commit;
using Ambrosia.Log.Format;
using Ambrosia.Log.Instances;
using Ambrosia.Log.Pages;
using Ambrosia.Log.Reading;
using Ambrosia.Log.Segments;
using Ambrosia.Protocol;

namespace Ambrosia.Log.Tests;

/// <summary>
/// The last segment of a healthy log as bytes, with what is known of its pages, and the content of an older segment of the same epoch: what
/// a recycled file has under it. Nothing in it changes.
/// </summary>
internal sealed class SegmentImage
{
    public const string Dir = "/log";
    private const int BehindBytes = 8_192; // allocated ahead of the tail

    private SegmentImage(InstanceIdentity identity, LogSegment segment, byte[] bytes, byte[] stale, List<PageHeader> pages)
    {
        Identity = identity;
        Segment = segment;
        Bytes = bytes;
        Stale = stale;
        Pages = pages;
        End = pages[^1].Next;
        Stated = pages.Max(p => p.DurableUpTo);
    }

    public InstanceIdentity Identity { get; }
    public LogSegment Segment { get; }

    /// <summary>The file: header, pages, and zeros behind them.</summary>
    public byte[] Bytes { get; }

    /// <summary>The content of an earlier life of the file, which is as long.</summary>
    public byte[] Stale { get; }
    public IReadOnlyList<PageHeader> Pages { get; }
    public Lsn End { get; }

    /// <summary>Highest durableUpTo in it.</summary>
    public Lsn Stated { get; }

    /// <summary>File offset behind the last page.</summary>
    public int EndOffset => Offset(End);

    /// <summary>The same pages in a file that was a segment before.</summary>
    public SegmentImage AsRecycled()
    {
        LogSegment recycled = new LogSegment(Segment.Path, Segment.Header with { IsRecycled = true });
        byte[] bytes = [.. Bytes];
        recycled.Header.Write(bytes);
        return new SegmentImage(Identity, recycled, bytes, Stale, [.. Pages]);
    }

    public int Offset(Lsn lsn) => (int)Segment.Header.OffsetOf(lsn);

    /// <summary>The page at an offset of the file.</summary>
    public int PageAt(int offset)
    {
        int i = Pages.Count - 1;
        while (Offset(Pages[i].Lsn) > offset) i--;
        return i;
    }

    /// <summary>The log ends here when this page is bad: before the spanning record that it is part of.</summary>
    public int FirstOf(int page)
    {
        while (Pages[page].Flags == PageFlags.ContinuesSpanning) page--;
        return page;
    }

    /// <summary>
    /// 72 KiB of pages: groups of one and of several pages, of one and of two blocks, a spanning record, a mark, and a last group of
    /// <paramref name="lastGroup"/> pages of <paramref name="lastBytes"/> bytes each, which nothing states.
    /// </summary>
    // the header, and what is kept for a mark
    public static SegmentImage Make(int lastGroup = 3, int lastBytes = 5_000, int segmentBytes = (72 << 10) + 2 * SegmentHeader.Bytes)
    {
        var fs = new MemoryFileSystem();
        var random = new Random(5);
        using Primary primary = Primary.Start(fs, Dir,
            Primary.Small with { SegmentBytes = segmentBytes, PageBytes = lastBytes < 8_000 ? 8_192 : 16_384, Pages = 64 });
        while (primary.Log.Chain.Segments.Length == 1) Commit(primary, random, 7_000);
        foreach (int size in new[] { 60, 900, 5_000 }) Commit(primary, random, size);
        byte[] spanning = new byte[10_000];
        random.NextBytes(spanning);
        primary.AppendSpanning(spanning);
        primary.Commit();
        primary.Writer.AppendMark();
        primary.Commit();
        Commit(primary, random, 3_000, 4_500, 200);
        for (int i = 0; i <= lastGroup; i++) Append(primary, random, lastBytes); // the last one seals the page before it, and is lost
        Assert.Equal(CommitReadiness.Ready, primary.Writer.Begin(out CommitGroup? group));
        Assert.Equal((lastGroup, false), (group!.PageCount, group.NeedsRotation));
        Primary.Steps(group);
        return Load(fs, primary.Identity, primary.Log.Chain);
    }

    private static SegmentImage Load(MemoryFileSystem fs, InstanceIdentity identity, LogChain chain)
    {
        LogSegment segment = chain.Segments[^1];
        var pages = new List<PageHeader>();
        using LogScan scan = LogScan.Open(fs, Dir, identity, chain,
            new ScanOptions { From = segment.FirstLsn, PreviousHash = segment.Header.PredecessorHash });
        while (scan.Next()) pages.Add(scan.Page.Header);
        byte[] bytes = fs.Content(segment.Path), stale = fs.Content(chain.Segments[0].Path);
        int length = (int)segment.Header.OffsetOf(pages[^1].Next) + BehindBytes;
        Array.Resize(ref bytes, length);
        segment = new LogSegment(segment.Path, segment.Header with { FileBytes = length });
        segment.Header.Write(bytes);
        Assert.True(stale.AsSpan(SegmentHeader.Bytes, stale.Length - SegmentHeader.Bytes).ContainsAnyExcept((byte)0));
        while (stale.Length < length)
            stale = [.. stale, .. stale.AsSpan(SegmentHeader.Bytes, Math.Min(length - stale.Length, stale.Length - SegmentHeader.Bytes))];
        return new SegmentImage(identity, segment, bytes, stale[..length], pages);
    }

    private static void Commit(Primary primary, Random random, params int[] sizes)
    {
        foreach (int size in sizes) Append(primary, random, size);
        primary.Commit();
    }

    private static void Append(Primary primary, Random random, int size)
    {
        byte[] body = new byte[size];
        random.NextBytes(body);
        primary.Append(body);
    }
}
