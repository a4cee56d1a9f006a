using System.Runtime.InteropServices;
using Ambrosia.Log.Commit;
using Ambrosia.Log.Format;
using Ambrosia.Log.Pages;
using Ambrosia.Log.Reading;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Records;

namespace Ambrosia.Log.Tests;

public sealed class SpanningRecordTests
{
    private const string Dir = "/log";
    private readonly MemoryFileSystem _fs = new();

    public static TheoryData<int> Sizes
    {
        get
        {
            int room = Primary.Small.PageBytes - PageHeader.Bytes;
            int whole = room - RecordHeader.Bytes;
            return [0, 1, 31, 32, 33, 4_000, whole - 1, whole, whole + 1, whole + room - 1, whole + room, whole + room + 1, 100_000,
                1 << 20, 5 << 20];
        }
    }

    [Theory]
    [MemberData(nameof(Sizes))]
    public void Append_AnySize_IsReadBackBetweenItsNeighbours(int bytes)
    {
        using Primary primary = Primary.Start(_fs, Dir);
        byte[] body = new byte[bytes];
        new Random(bytes).NextBytes(body);
        List<LoggedRecord> written = [primary.Append([1]), primary.AppendSpanning(body), primary.Append([2])];
        primary.Commit();
        Assert.Equal(written, LogContent.Read(_fs, Dir, out Lsn end));
        Assert.Equal(primary.Writer.Durable, end);
        Assert.Equal(end, primary.Writer.Tail);
    }

    /// <summary>Several records go to disk together: at most the limit, and the one that reaches beyond it.</summary>
    [Fact]
    public void Append_WhileTheLimitIsUnderWay_IsRefusedUntilTheyAreDurable()
    {
        using Primary primary = Primary.Start(_fs, Dir, Primary.Small with { SegmentBytes = 1 << 20, SpanningBytes = 3 * 50_000 });
        var written = new List<LoggedRecord>();
        byte[] body = new byte[50_000 - RecordHeader.Bytes];
        for (int round = 0; round < 3; round++)
        {
            for (int i = 0; i < 3; i++) written.Add(primary.AppendSpanning([.. body[1..], (byte)i]));
            Assert.False(primary.Writer.TryAppendSpanning(RecordKind.Run, body, [], out _, out _));
            written.Add(primary.Append([(byte)round]));
            Assert.Equal(2, primary.Commit()); // the three in one, and what follows them
        }
        Assert.Equal(written, LogContent.Read(_fs, Dir));
        Assert.Equal(9, primary.Writer.Metrics.SpanningRecords);
    }

    /// <summary>
    /// Whoever hears where the record ends takes locks of its own, under which others append: so no lock of the log is held meanwhile, and
    /// yet nobody can commit the record before that has returned.
    /// </summary>
    [Fact]
    public void Append_WhileItIsAnnounced_OthersAppendAndNobodyCommitsIt()
    {
        using Primary primary = Primary.Start(_fs, Dir);
        LoggedRecord first = primary.Append([1]);
        LoggedRecord? beside = null;
        CommitReadiness behind = CommitReadiness.Ready;
        bool isFree = false;
        Assert.True(primary.Writer.TryAppendSpanning(RecordKind.Run, new byte[50_000], [], out Lsn lsn, out Lsn end, announced =>
        {
            var other = new Thread(() =>
            {
                beside = primary.Append([2]);
                primary.Commit();
                behind = primary.Writer.Begin(out _);
            }) { IsBackground = true };
            other.Start();
            isFree = other.Join(TimeSpan.FromSeconds(20)) && primary.Writer.Durable < announced;
        }));
        Assert.True(isFree, "another thread appends and commits while the record is announced");
        Assert.Equal((CommitReadiness.WritersInside, true), (behind, beside!.Lsn > end));
        primary.Commit();
        Assert.Equal([first, new LoggedRecord(lsn, RecordKind.Run, new byte[50_000]), beside], LogContent.Read(_fs, Dir));
    }

    [Fact]
    public void Append_ASmallSegment_LowersTheLimit()
    {
        using Primary primary = Primary.Start(_fs, Dir, Primary.Small with { SpanningBytes = 1 << 30 });
        byte[] body = new byte[(int)Primary.Small.SegmentBytes / 4];
        primary.AppendSpanning(body);
        Assert.False(primary.Writer.TryAppendSpanning(RecordKind.Run, body, [], out _, out _));
    }

    /// <summary>
    /// Delivery finds the pages in memory, once; those that it has not read stay as far as the limit allows, the newest, and older ones
    /// are read from the segment.
    /// </summary>
    [Fact]
    public void TryPin_PagesOfSpanningRecords_StayUntilTheyAreReadOrTheLimitIsReached()
    {
        int page = Primary.Small.PageBytes, pages = 3;
        using Primary primary = Primary.Start(_fs, Dir, Primary.Small with { SpanningBytes = pages * page });
        var all = new List<Lsn>();
        for (int i = 0; i < 4; i++) AppendPages(2);
        Assert.False(primary.Writer.TryPin(all[^4], out _)); // older than the limit
        Assert.True(primary.Writer.TryPin(all[^3], out PinnedPage first));
        Assert.Equal((PageFlags.ContinuesSpanning, page), (first.Flags, first.Length));
        Assert.False(primary.Writer.TryPin(all[^3], out _)); // one reader a page
        AppendPages(2);
        Assert.False(primary.Writer.TryPin(all[^4], out _)); // it made room, the one that is read did not
        first.Unpin();
        Assert.False(primary.Writer.TryPin(all[^5], out _)); // read
        foreach (Lsn lsn in all[^2..])
        {
            Assert.True(primary.Writer.TryPin(lsn, out PinnedPage pinned));
            Assert.Equal(lsn, pinned.Lsn);
            pinned.Unpin();
            Assert.False(primary.Writer.TryPin(lsn, out _));
        }
        Assert.Equal(5, LogContent.Read(_fs, Dir).Count);

        void AppendPages(int count)
        {
            Lsn lsn = primary.AppendSpanning(new byte[count * (page - PageHeader.Bytes) - RecordHeader.Bytes]).Lsn + -PageHeader.Bytes;
            for (int i = 0; i < count; i++) all.Add(lsn + i * page);
            primary.Commit();
        }
    }

    /// <summary>
    /// A stream of large messages takes no new memory once its pages are read, and what stood in a page before is nowhere in the log.
    /// </summary>
    [Fact]
    public void Append_AfterPagesWereRead_UsesThemAgain()
    {
        int room = Primary.Small.PageBytes - PageHeader.Bytes, whole = 3;
        using Primary primary = Primary.Start(_fs, Dir);
        var written = new List<LoggedRecord>();
        var memory = new HashSet<byte[]>();
        for (int i = 0; i < 20; i++)
        {
            byte[] body = new byte[(whole * room) + (room / 2) - RecordHeader.Bytes];
            new Random(i).NextBytes(body);
            written.Add(primary.AppendSpanning(body));
            primary.Commit();
            Lsn first = written[^1].Lsn + -PageHeader.Bytes;
            for (int page = 0; page < whole; page++)
            {
                Assert.True(primary.Writer.TryPin(first + page * Primary.Small.PageBytes, out PinnedPage pinned));
                Assert.True(MemoryMarshal.TryGetArray<byte>(pinned.Buffer, out ArraySegment<byte> array));
                memory.Add(array.Array!);
                pinned.Bytes.Clear(); // its reader's to overwrite
                pinned.Unpin();
            }
        }
        Assert.InRange(memory.Count, whole, 2 * whole);
        Assert.Equal(written, LogContent.Read(_fs, Dir));
    }

    [Fact]
    public void Append_WithAllPagesFilled_GoesBehindThem()
    {
        using Primary primary = Primary.Start(_fs, Dir);
        byte[] page = new byte[primary.Writer.ReserveBytesMax - RecordHeader.Bytes];
        var written = new List<LoggedRecord>();
        for (int i = 0; i < Primary.Small.Pages; i++) written.Add(primary.Append(page));
        Assert.False(primary.Writer.TryReserve(8, out _));
        written.Add(primary.AppendSpanning(new byte[100_000]));
        Assert.False(primary.Writer.TryReserve(8, out _));
        primary.Commit();
        written.Add(primary.Append([1]));
        primary.Commit();
        Assert.Equal(written, LogContent.Read(_fs, Dir));
    }

    [Fact]
    public void Append_BeyondTheMessageLimit_Throws()
    {
        LogOptions options = Primary.Small with { MessageBytesMax = 300_000 };
        using Primary primary = Primary.Start(_fs, Dir, options);
        primary.AppendSpanning(new byte[300_000 + LogOptions.RecordOverheadMax]);
        Assert.Throws<ArgumentException>(() => primary.AppendSpanning(new byte[300_001 + LogOptions.RecordOverheadMax]));
    }

    [Fact]
    public void Append_LargerThanASegment_HasItsOwnLargerSegment()
    {
        using Primary primary = Primary.Start(_fs, Dir);
        List<LoggedRecord> written = [primary.Append([1])];
        primary.Commit();
        written.Add(primary.AppendSpanning(new byte[3 * Primary.Small.SegmentBytes]));
        primary.Commit();
        written.Add(primary.Append([2]));
        primary.Commit();
        Assert.Equal(written, LogContent.Read(_fs, Dir));
        Assert.Equal(3, primary.Log.Chain.Segments.Length);
    }

    [Fact]
    public void TakeOver_IncompleteSpanningTail_EndsBeforeItsFirstPage()
    {
        LoggedRecord kept;
        Lsn spanning;
        using (Primary first = Primary.Start(_fs, Dir))
        {
            kept = first.Append([1]);
            first.Commit();
            first.AppendSpanning(new byte[60_000]);
            CommitGroup group = first.Next()!;
            spanning = group.Start;
            for (int i = 0; i < group.PageCount - 1; i++) group.Write(i); // the last page never gets there
        }
        using Primary second = Primary.Start(_fs, Dir);
        var cut = Assert.IsType<ReadVerdict.TornTail>(second.Log.Tail);
        Assert.Equal(spanning, cut.At);
        Assert.Equal(3 * (16 << 10), cut.Bytes);
        Assert.Contains("spanning", cut.Reason, StringComparison.Ordinal);
        LoggedRecord next = second.Append([2]);
        second.Commit();
        Assert.Equal([kept, next], LogContent.Read(_fs, Dir));
    }
}
