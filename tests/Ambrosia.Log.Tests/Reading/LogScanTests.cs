using System.Collections.Immutable;
using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Log.Instances;
using Ambrosia.Log.Reading;
using Ambrosia.Log.Segments;
using Ambrosia.Protocol;

namespace Ambrosia.Log.Tests;

/// <summary>
/// A scan gives every page once, in order, stops at seals, and says how it ended; with damage in the way it says what is
/// lost and gives the rest.
/// </summary>
public sealed class LogScanTests
{
    private const string Dir = "/log";
    private readonly MemoryFileSystem _fs = new();

    [Fact]
    public void Next_SeveralSegmentsAndEpochs_GivesEveryPageOnce()
    {
        List<LoggedRecord> written = Write(epochs: 4, records: 40);
        InstanceIdentity identity = InstanceDirectory.TryRead(_fs, Dir)!;
        using LogScan scan = LogScan.Open(_fs, Dir, identity);
        Assert.Equal(written, Records(scan));
        var whole = Assert.IsType<ReadVerdict.CleanEnd>(scan.Verdict);
        Assert.Equal((scan.Position, scan.Stated), (whole.End, whole.DurableUpTo));
        Assert.True(scan.Chain.Segments.Length > 6, $"{scan.Chain.Segments.Length} segments");
        Assert.Empty(scan.Lost);
        Assert.False(scan.Next());
    }

    /// <summary>
    /// Who reads on has what follows on its way, up to the seal and no further, so that nothing is fetched where a primary may write, but
    /// for what is read anyway: that behind the last page.
    /// </summary>
    [Fact]
    public void Next_PageAfterPage_SaysAheadWhatIsReadOfSealedSegments()
    {
        Write(epochs: 2, records: 30);
        InstanceIdentity identity = InstanceDirectory.TryRead(_fs, Dir)!;
        var expected = new List<(string Path, long Offset, long Bytes)>();
        var files = new InterceptedFiles(_fs) { ExpectsReads = (path, offset, bytes) => expected.Add((path, offset, bytes)) };
        using LogScan scan = LogScan.Open(files, Dir, identity);
        Assert.True(scan.Next());
        Assert.Empty(expected);
        while (scan.Next()) { }
        ImmutableArray<LogSegment> all = scan.Chain.Segments;
        long end = all[^1].Header.OffsetOf(Assert.IsType<ReadVerdict.CleanEnd>(scan.Verdict).End);
        Assert.DoesNotContain(expected, each => each.Path == all[^1].Path && each.Offset < end);
        Assert.Contains(expected, each => each.Path == all[0].Path);
        foreach ((LogSegment segment, LogSegment next) in all.Zip(all.Skip(1)))
            Assert.All(expected.Where(each => each.Path == segment.Path), each => Assert.InRange(
                each.Offset + each.Bytes, 0, LogSegment.HeaderBytes + (long)(next.FirstLsn - segment.FirstLsn)));
    }

    [Fact]
    public void Next_FromTheMiddle_GivesTheRest()
    {
        List<LoggedRecord> written = Write(epochs: 2, records: 30);
        InstanceIdentity identity = InstanceDirectory.TryRead(_fs, Dir)!;
        foreach (PageHeader page in Pages(identity).Where(p => p.Flags != PageFlags.ContinuesSpanning))
        {
            using LogScan scan = LogScan.Open(_fs, Dir, identity, new ScanOptions { From = page.Lsn, PreviousHash = page.PreviousHash });
            Assert.Equal(written.Where(r => r.Lsn >= page.Lsn), Records(scan));
            Assert.IsType<ReadVerdict.CleanEnd>(scan.Verdict);
        }
    }

    [Fact]
    public void Next_FromAPageWithAnotherHashBefore_Halts()
    {
        Write(epochs: 2, records: 30);
        InstanceIdentity identity = InstanceDirectory.TryRead(_fs, Dir)!;
        PageHeader page = Pages(identity)[5];
        using LogScan scan = LogScan.Open(_fs, Dir, identity, new ScanOptions { From = page.Lsn, PreviousHash = page.PreviousHash + 1 });
        Assert.False(scan.Next());
        Assert.Equal(page.Lsn, Assert.IsType<ReadVerdict.Halt>(scan.Verdict).At);
    }

    [Fact]
    public void Next_NoLog_IsWholeAndEmpty()
    {
        InstanceIdentity identity = Primary.Create(_fs, Dir);
        using LogScan scan = LogScan.Open(_fs, Dir, identity);
        Assert.False(scan.Next());
        Assert.Equal(new ReadVerdict.CleanEnd(Lsn.Zero, Lsn.Zero), scan.Verdict);
    }

    [Fact]
    public void Next_AnyPageDamaged_HaltsThereOrGoesOnBehindIt()
    {
        List<LoggedRecord> written = Write(epochs: 2, records: 24);
        InstanceIdentity identity = InstanceDirectory.TryRead(_fs, Dir)!;
        List<PageHeader> pages = Pages(identity);
        Lsn stated = pages.Max(p => p.DurableUpTo);
        LogChain chain = LogChain.Load(_fs, Dir, identity);
        foreach (PageHeader page in pages.Where(p => p.Lsn < stated))
        {
            Assert.True(chain.TryFind(page.Lsn, out LogSegment segment, out _));
            MemoryFileSystem damaged = Flip(segment.Path, segment.Header.OffsetOf(page.Lsn) + 66);
            using LogScan strict = LogScan.Open(damaged, Dir, identity);
            Assert.Equal(written.Where(r => r.Lsn < Begin(pages, page)), Records(strict));
            AssertHalt(strict, segment, page.Lsn);
            using LogScan lenient = LogScan.Open(damaged, Dir, identity, new ScanOptions { GoesOn = true });
            List<LoggedRecord> rest = Records(lenient);
            AssertHalt(lenient, segment, page.Lsn);
            LogScan.LostRange lost = Assert.Single(lenient.Lost);
            Lsn behind = Behind(pages, page);
            Assert.Equal((page.Lsn, behind), (lost.From, lost.To));
            Assert.Equal(written.Where(r => r.Lsn < Begin(pages, page) || r.Lsn >= behind), rest);
        }
    }

    [Fact]
    public void Next_SegmentMissingInTheMiddle_HaltsAndGivesWhatFollows()
    {
        List<LoggedRecord> written = Write(epochs: 2, records: 24);
        InstanceIdentity identity = InstanceDirectory.TryRead(_fs, Dir)!;
        LogSegment gone = LogChain.Load(_fs, Dir, identity).Segments[2], next = LogChain.Load(_fs, Dir, identity).Segments[3];
        _fs.Delete(gone.Path);
        using LogScan strict = LogScan.Open(_fs, Dir, identity);
        Assert.False(strict.Next());
        Assert.Equal(gone.Path, Assert.IsType<ReadVerdict.Halt>(strict.Verdict).Damage.File);
        using LogScan lenient = LogScan.Open(_fs, Dir, identity, new ScanOptions { GoesOn = true });
        Assert.Equal(written.Where(r => r.Lsn >= next.FirstLsn), Records(lenient));
        Assert.Equal((Lsn.Zero, next.FirstLsn), (lenient.Lost[0].From, lenient.Lost[0].To));
        Assert.IsType<ReadVerdict.Halt>(lenient.Verdict);
    }

    /// <summary>
    /// A visible segment with a bad header is never "no such segment" (L3.1): a verdict like any other, with and without going on.
    /// </summary>
    [Fact]
    public void Open_AnyHeaderDamaged_HaltsThere()
    {
        Write(epochs: 2, records: 24);
        InstanceIdentity identity = InstanceDirectory.TryRead(_fs, Dir)!;
        foreach (LogSegment segment in LogChain.Load(_fs, Dir, identity).Segments)
        {
            MemoryFileSystem damaged = Flip(segment.Path, 50);
            foreach (bool goesOn in new[] { false, true })
            {
                using LogScan scan = LogScan.Open(damaged, Dir, identity, new ScanOptions { GoesOn = goesOn });
                Assert.False(scan.Next());
                var halt = Assert.IsType<ReadVerdict.Halt>(scan.Verdict);
                Assert.Equal((segment.Path, SegmentHeader.Bytes - 4), (halt.Damage.File, halt.Damage.Offset));
                Assert.Same(halt.Damage, Assert.Single(scan.Lost).Why);
            }
        }
    }

    /// <summary>The header of a segment that joins a live log while it is read is damaged: that is found at the tail, once.</summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Next_HeaderDamagedMeanwhile_HaltsThere(bool goesOn)
    {
        List<LoggedRecord> written = Write(epochs: 1, records: 3);
        InstanceIdentity identity = InstanceDirectory.TryRead(_fs, Dir)!;
        using LogScan scan = LogScan.Open(_fs, Dir, identity, new ScanOptions { GoesOn = goesOn });
        _fs.Create($"{Dir}/log.2.1").Dispose();
        _fs.SetContent($"{Dir}/log.2.1", new byte[SegmentHeader.Bytes]);
        Assert.Equal(written, Records(scan));
        var halt = Assert.IsType<ReadVerdict.Halt>(scan.Verdict);
        Assert.Equal($"{Dir}/log.2.1", halt.Damage.File);
        Assert.Equal(halt.At, scan.Position);
        Assert.Single(scan.Lost);
    }

    [Fact]
    public void Next_SealThatNamesAnotherHash_HaltsAndLosesNothing()
    {
        List<LoggedRecord> written = Write(epochs: 2, records: 24);
        InstanceIdentity identity = InstanceDirectory.TryRead(_fs, Dir)!;
        LogSegment segment = LogChain.Load(_fs, Dir, identity).Segments[1];
        byte[] header = new byte[SegmentHeader.Bytes];
        (segment.Header with { PredecessorHash = 1 }).Write(header);
        byte[] bytes = _fs.Content(segment.Path);
        header.CopyTo(bytes, 0);
        _fs.SetContent(segment.Path, bytes);
        using LogScan strict = LogScan.Open(_fs, Dir, identity);
        Assert.Equal(written.Where(r => r.Lsn < segment.FirstLsn), Records(strict));
        using LogScan lenient = LogScan.Open(_fs, Dir, identity, new ScanOptions { GoesOn = true });
        Assert.Equal(written, Records(lenient));
        foreach (LogScan scan in new[] { strict, lenient })
        {
            var halt = Assert.IsType<ReadVerdict.Halt>(scan.Verdict);
            Assert.Equal((segment.FirstLsn, segment.Path, 80), (halt.At, halt.Damage.File, halt.Damage.Offset));
            Assert.Equal(0, Assert.Single(scan.Lost).Bytes);
        }
    }

    [Fact]
    public void Next_LogThatGrowsMeanwhile_IsReadToItsNewEnd()
    {
        List<LoggedRecord> written = Write(epochs: 1, records: 3);
        InstanceIdentity identity = InstanceDirectory.TryRead(_fs, Dir)!;
        using LogScan scan = LogScan.Open(_fs, Dir, identity);
        Assert.True(scan.Next());
        written.AddRange(Write(epochs: 2, records: 30)); // take-overs and rotations under the reader
        Lsn next = scan.Page.Next;
        Assert.Equal(written.Where(r => r.Lsn >= next), Records(scan));
        Assert.IsType<ReadVerdict.CleanEnd>(scan.Verdict);
    }

    /// <summary>The log rotates under the reader each time that it comes to the end; with a bound it comes to one all the same.</summary>
    [Fact]
    public void Next_LogThatGrowsFasterThanItIsRead_EndsBehindTheHeadOfItsBeginning()
    {
        List<LoggedRecord> written = Write(epochs: 1, records: 3);
        InstanceIdentity identity = InstanceDirectory.TryRead(_fs, Dir)!;
        using LogScan scan = LogScan.Open(_fs, Dir, identity, new ScanOptions { EndsWithHead = true });
        var read = new List<LoggedRecord>();
        var parts = new SpanningParts();
        while (scan.Next())
        {
            parts.Add(scan.Page, read);
            if (scan.Chain.Segments.Length < 20) written.AddRange(Write(epochs: 1, records: 30));
        }
        LogSegment second = LogChain.Load(_fs, Dir, identity).Segments[1];
        Assert.Equal(written.Where(r => r.Lsn < second.FirstLsn), read);
        Assert.Equal(second.FirstLsn, Assert.IsType<ReadVerdict.CleanEnd>(scan.Verdict).End);
    }

    [Fact]
    public void Next_SegmentThatWasTruncatedMeanwhile_IsGoneAndNotDamage()
    {
        Write(epochs: 2, records: 24);
        InstanceIdentity identity = InstanceDirectory.TryRead(_fs, Dir)!;
        using LogScan scan = LogScan.Open(_fs, Dir, identity);
        Assert.True(scan.Next());
        foreach (LogSegment segment in scan.Chain.Segments[..3]) _fs.Delete(segment.Path);
        while (scan.Next()) { }
        Assert.Equal(scan.Chain.Segments[1].FirstLsn, Assert.IsType<ReadVerdict.Truncated>(scan.Verdict).At);
    }

    [Fact]
    public void Next_SegmentThatWasRecycledMeanwhile_IsGoneAndNotDamage()
    {
        Write(epochs: 1, records: 40);
        InstanceIdentity identity = InstanceDirectory.TryRead(_fs, Dir)!;
        using LogScan scan = LogScan.Open(_fs, Dir, identity);
        Assert.True(scan.Next());
        LogSegment first = scan.Segment, last = scan.Chain.Segments[^1];
        using IFile reused = _fs.Open(first.Path, FileUse.ReadWrite); // the reader keeps it open while it becomes another segment
        _fs.Rename(first.Path, $"{Dir}/log.{last.Header.Number + 1}.1");
        byte[] header = new byte[SegmentHeader.Bytes];
        (last.Header with { Number = last.Header.Number + 1, FirstLsn = new Lsn(1 << 20) }).Write(header);
        reused.Write(header, 0);
        reused.Write(new byte[64 << 10], SegmentHeader.Bytes);
        while (scan.Next()) { }
        Assert.Equal(first.FirstLsn, scan.Segment.FirstLsn);
        Assert.IsType<ReadVerdict.Truncated>(scan.Verdict);
    }

    [Fact]
    public void Next_SegmentInHand_IsHeldAgainstTruncation()
    {
        Write(epochs: 1, records: 40);
        InstanceIdentity identity = InstanceDirectory.TryRead(_fs, Dir)!;
        using LogScan scan = LogScan.Open(_fs, Dir, identity);
        Assert.True(scan.Next());
        foreach (LogSegment segment in scan.Chain.Segments)
        {
            using IFile file = _fs.Open(segment.Path, FileUse.ReadWrite);
            Assert.Equal(segment != scan.Segment, file.TryLock(FileLockKind.Exclusive));
        }
        using IFile truncated = _fs.Open(scan.Chain.Segments[1].Path, FileUse.ReadWrite);
        Assert.True(truncated.TryLock(FileLockKind.Exclusive));
        while (scan.Next()) { }
        Assert.Equal(scan.Chain.Segments[1].FirstLsn, Assert.IsType<ReadVerdict.Truncated>(scan.Verdict).At);
    }

    private static Lsn Begin(List<PageHeader> pages, PageHeader page)
    {
        int i = pages.IndexOf(page);
        while (pages[i].Flags == PageFlags.ContinuesSpanning) i--;
        return pages[i].Lsn;
    }

    private static Lsn Behind(List<PageHeader> pages, PageHeader page)
    {
        int i = pages.IndexOf(page) + 1;
        while (pages[i].Flags == PageFlags.ContinuesSpanning) i++;
        return pages[i].Lsn;
    }

    private static void AssertHalt(LogScan scan, LogSegment segment, Lsn at)
    {
        var halt = Assert.IsType<ReadVerdict.Halt>(scan.Verdict);
        Assert.Equal((at, segment.Path, segment.Header.OffsetOf(at)), (halt.At, halt.Damage.File, halt.Damage.Offset));
    }

    private MemoryFileSystem Flip(string path, long offset)
    {
        MemoryFileSystem damaged = _fs.Copy();
        byte[] bytes = damaged.Content(path);
        bytes[offset] ^= 8;
        damaged.SetContent(path, bytes);
        return damaged;
    }

    private List<PageHeader> Pages(InstanceIdentity identity) => LongLog.Pages(_fs, Dir, identity);

    private static List<LoggedRecord> Records(LogScan scan)
    {
        var records = new List<LoggedRecord>();
        var parts = new SpanningParts();
        while (scan.Next()) parts.Add(scan.Page, records);
        return records;
    }

    private List<LoggedRecord> Write(int epochs, int records) => LongLog.Write(_fs, Dir, epochs, records);
}
