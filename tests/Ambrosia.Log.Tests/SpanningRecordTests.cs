using Ambrosia.Protocol;

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
            return [0, 1, 31, 32, 33, 4_000, whole - 1, whole, whole + 1, whole + room - 1, whole + room, whole + room + 1, 100_000, 1 << 20, 5 << 20];
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
        Assert.Equal(written, WholeLog.Read(_fs, Dir, out Lsn end));
        Assert.Equal(primary.Writer.Durable, end);
        Assert.Equal(end, primary.Writer.Tail);
    }

    [Fact]
    public void Append_WhileOneIsUnderWay_IsRefused()
    {
        using Primary primary = Primary.Start(_fs, Dir);
        byte[] body = new byte[50_000];
        primary.AppendSpanning(body);
        Assert.False(primary.Writer.TryAppendSpanning(RecordKind.Run, body, [], out _, out _));
        primary.Commit();
        primary.AppendSpanning(body);
        primary.Commit();
        Assert.Equal(2, WholeLog.Read(_fs, Dir).Count);
        Assert.Equal(2, primary.Writer.Metrics.SpanningRecords);
    }

    /// <summary>A record of its own pages is let go when it is durable, however large, and read from its segment; ordinary pages stay in memory for a while.</summary>
    [Fact]
    public void TryPin_PageOfASpanningRecord_IsReadFromTheSegment()
    {
        using Primary primary = Primary.Start(_fs, Dir);
        primary.Append([1]);
        primary.Commit();
        LoggedRecord spanning = primary.AppendSpanning(new byte[50_000]);
        primary.Commit();
        Assert.True(primary.Writer.TryPin(Lsn.Zero, out PinnedPage pinned));
        pinned.Unpin();
        Assert.False(primary.Writer.TryPin(spanning.Lsn + -PageHeader.Bytes, out _));
        Assert.Equal(spanning, WholeLog.Read(_fs, Dir)[^1]);
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
        Assert.Equal(written, WholeLog.Read(_fs, Dir));
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
        Assert.Equal(written, WholeLog.Read(_fs, Dir));
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
        var cut = Assert.IsType<ReadVerdict.Cut>(second.Log.Tail);
        Assert.Equal(spanning, cut.At);
        Assert.Equal(3 * (16 << 10), cut.Bytes);
        Assert.Contains("spanning", cut.Reason, StringComparison.Ordinal);
        LoggedRecord next = second.Append([2]);
        second.Commit();
        Assert.Equal([kept, next], WholeLog.Read(_fs, Dir));
    }
}
