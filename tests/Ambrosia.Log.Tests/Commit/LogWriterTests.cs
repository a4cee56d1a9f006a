using Ambrosia.Log.Commit;
using Ambrosia.Log.Format;
using Ambrosia.Log.Pages;
using Ambrosia.Log.Reading;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Hashing;
using Ambrosia.Protocol.Records;

namespace Ambrosia.Log.Tests;

public sealed class LogWriterTests
{
    private const string Dir = "/log";
    private readonly MemoryFileSystem _fs = new();

    [Fact]
    public void Append_Committed_IsReadBack()
    {
        using Primary primary = Primary.Start(_fs, Dir);
        List<LoggedRecord> written = [primary.Append([1, 2, 3]), primary.Append([], RecordKind.Trim), primary.Append(new byte[9_000])];
        Assert.Empty(LogContent.Read(_fs, Dir));
        Assert.Equal(1, primary.Commit());
        written.Add(primary.Append([4]));
        Assert.Equal(1, primary.Commit());
        Assert.Equal(written, LogContent.Read(_fs, Dir, out Lsn end));
        Assert.Equal(end, primary.Writer.Durable);
    }

    [Fact]
    public void Positions_ThroughOneCommit_GrowInOrder()
    {
        using Primary primary = Primary.Start(_fs, Dir);
        LogWriter writer = primary.Writer;
        Assert.Equal((Lsn.Zero, Lsn.Zero, Lsn.Zero), (writer.Durable, writer.Sealed, writer.Tail));
        LoggedRecord record = primary.Append(new byte[100]);
        Assert.Equal(new Lsn(64), record.Lsn);
        Assert.Equal((Lsn.Zero, Lsn.Zero, new Lsn(172)), (writer.Durable, writer.Sealed, writer.Tail));
        Assert.Equal(CommitReadiness.Ready, writer.Begin(out CommitGroup? group));
        Assert.Equal((Lsn.Zero, new Lsn(4_096), new Lsn(4_096)), (writer.Durable, writer.Sealed, writer.Tail));
        Primary.Steps(group!);
        Assert.Equal(Lsn.Zero, writer.Durable);
        writer.Complete(group!);
        Assert.Equal((new Lsn(4_096), new Lsn(4_096), new Lsn(4_096)), (writer.Durable, writer.Sealed, writer.Tail));
    }

    [Fact]
    public void Begin_WhileAGroupIsFlushed_FormsTheNextGroupOfAllThatCameMeanwhile()
    {
        using Primary primary = Primary.Start(_fs, Dir);
        primary.Append([1]);
        primary.Writer.Begin(out CommitGroup? first);
        var meanwhile = new List<LoggedRecord>();
        for (int i = 0; i < 30; i++) meanwhile.Add(primary.Append(new byte[1_000]));
        Assert.Equal(CommitReadiness.Busy, primary.Writer.Begin(out _));
        Primary.Steps(first!);
        primary.Writer.Complete(first!);

        Assert.Equal(CommitReadiness.Ready, primary.Writer.Begin(out CommitGroup? second));
        Assert.Equal(1, second!.PageCount); // the full page; the open one is not cut off while another waits
        Primary.Steps(second);
        primary.Writer.Complete(second);
        Assert.Equal(1, primary.Commit());
        Assert.Equal(meanwhile, LogContent.Read(_fs, Dir).Skip(1));
    }

    [Fact]
    public void Begin_WithAWriterInside_AnswersSoUntilItLeaves()
    {
        using Primary primary = Primary.Start(_fs, Dir);
        LogWriter writer = primary.Writer;
        Assert.True(writer.TryReserve(16, out Reservation r));
        Assert.Equal(CommitReadiness.WritersInside, writer.Begin(out _));
        new RecordHeader(8, RecordKind.Run).Write(r.Bytes);
        Assert.True(writer.Leave(r)); // the committer waits
        Assert.Equal(1, primary.Commit());
        Assert.Single(LogContent.Read(_fs, Dir));
    }

    /// <summary>
    /// Whoever turns a page alone adds it up; with others inside nobody may before they have left, and then the committer does.
    /// </summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Turn_AFilledPage_IsAddedUpOnceByWhoeverMay(bool isAnotherInside)
    {
        using Primary primary = Primary.Start(_fs, Dir);
        Reservation other = default;
        if (isAnotherInside) Assert.True(primary.Writer.TryReserve(RecordHeader.Bytes, out other));
        byte[] body = new byte[primary.Writer.ReserveBytesMax - 3 * RecordHeader.Bytes];
        new Random(5).NextBytes(body);
        primary.Append(body);
        primary.Append([1, 2, 3, 4, 5, 6, 7, 8, 9]); // turns the page
        if (isAnotherInside)
        {
            Assert.Equal(CommitReadiness.WritersInside, primary.Writer.Begin(out _));
            new RecordHeader(0, RecordKind.Run).Write(other.Bytes);
            primary.Writer.Leave(other);
        }
        CommitGroup group = primary.Next()!;
        Assert.Equal(isAnotherInside, group.Pages[0].PayloadCrc is null);
        Assert.Equal(Crc32C.Of(group.Pages[0].Bytes[PageHeader.Bytes..group.Pages[0].Header.Length]), group.Pages[0].Header.PayloadCrc);
        Primary.Steps(group);
        primary.Writer.Complete(group);
        primary.Commit();
        Assert.Equal(isAnotherInside ? 3 : 2, LogContent.Read(_fs, Dir).Count);
    }

    [Fact]
    public void Leave_BeforeTheCommittersFirstStep_WakesIt()
    {
        using Primary primary = Primary.Start(_fs, Dir);
        primary.Writer.TryReserve(8, out Reservation first);
        new RecordHeader(0, RecordKind.Run).Write(first.Bytes);
        Assert.True(primary.Writer.Leave(first)); // a log that has nothing to replay has no other reason to step
    }

    [Fact]
    public void Leave_WithoutAnIdleCommitter_DoesNotWakeIt()
    {
        using Primary primary = Primary.Start(_fs, Dir);
        Assert.Equal(CommitReadiness.Nothing, primary.Writer.Begin(out _));
        primary.Writer.TryReserve(8, out Reservation first);
        new RecordHeader(0, RecordKind.Run).Write(first.Bytes);
        primary.Writer.TryReserve(8, out Reservation second);
        new RecordHeader(0, RecordKind.Run).Write(second.Bytes);
        Assert.True(primary.Writer.Leave(first));
        Assert.False(primary.Writer.Leave(second)); // woken once
    }

    [Fact]
    public void TryReserve_AllPagesFilled_IsRefusedUntilACommit()
    {
        using Primary primary = Primary.Start(_fs, Dir);
        byte[] page = new byte[primary.Writer.ReserveBytesMax - RecordHeader.Bytes];
        for (int i = 0; i < Primary.Small.Pages; i++) primary.Append(page);
        Assert.False(primary.Writer.TryReserve(8, out _));
        Assert.Equal(1, primary.Writer.Metrics.NoRoom);
        CommitGroup group = primary.Next()!;
        Assert.Equal(Primary.Small.Pages, group.PageCount);
        Assert.False(primary.Writer.TryReserve(8, out _));
        Primary.Steps(group);
        primary.Writer.Complete(group);
        primary.Append([1]);
        primary.Commit();
        Assert.Equal(Primary.Small.Pages + 1, LogContent.Read(_fs, Dir).Count);
    }

    [Theory]
    [InlineData(0)]
    [InlineData(-1)]
    [InlineData((16 << 10) - 64 + 1)]
    public void TryReserve_ImpossibleSize_Throws(int bytes)
    {
        using Primary primary = Primary.Start(_fs, Dir);
        Assert.Throws<ArgumentOutOfRangeException>(() => primary.Writer.TryReserve(bytes, out _));
    }

    [Fact]
    public void Steps_InAnotherOrder_Throw()
    {
        using Primary primary = Primary.Start(_fs, Dir);
        primary.Append([1]);
        primary.Writer.Begin(out CommitGroup? group);
        Assert.Throws<InvalidOperationException>(group!.Rotate);
        Assert.Throws<InvalidOperationException>(group.Flush);
        Assert.Throws<InvalidOperationException>(group.CheckFence);
        Assert.Throws<InvalidOperationException>(() => group.Write(1));
        Assert.Throws<InvalidOperationException>(() => primary.Writer.Complete(group));
        group.Write(0);
        Assert.Throws<InvalidOperationException>(() => group.Write(0));
        Assert.Throws<InvalidOperationException>(group.CheckFence);
        group.Flush();
        Assert.Throws<InvalidOperationException>(() => primary.Writer.Complete(group));
        group.CheckFence();
        primary.Writer.Complete(group);
        Assert.Throws<InvalidOperationException>(() => primary.Writer.Complete(group));
    }

    [Fact]
    public void Mark_AfterIdleTime_StatesDurableOnce()
    {
        using Primary primary = Primary.Start(_fs, Dir);
        Assert.False(primary.Writer.MarkDue); // nothing to state in an empty log
        primary.Append([1]);
        Assert.False(primary.Writer.MarkDue);
        primary.Commit();
        Assert.Equal(Lsn.Zero, primary.Writer.Stated);
        Assert.True(primary.Writer.MarkDue);
        Assert.True(primary.Writer.AppendMark());
        Assert.False(primary.Writer.MarkDue);
        Assert.Equal(1, primary.Commit());
        Assert.Equal(new Lsn(4_096), primary.Writer.Stated);
        Assert.False(primary.Writer.MarkDue);
        Assert.False(primary.Writer.AppendMark());
        Assert.Equal(new Lsn(8_192), primary.Writer.Durable);
        Assert.Single(LogContent.Read(_fs, Dir));
    }

    [Fact]
    public void Mark_BehindAPrimaryThatMarked_IsNotDue()
    {
        using (Primary first = Primary.Start(_fs, Dir))
        {
            first.Append([1]);
            first.Commit();
            first.Writer.AppendMark();
            first.Commit();
        }
        using (Primary second = Primary.Start(_fs, Dir)) Assert.False(second.Writer.MarkDue);
        using Primary third = Primary.Start(_fs, Dir);
        Assert.False(third.Writer.MarkDue);
    }

    [Fact]
    public void TryAppendAlone_WhereTheLogStandsStill_TakesAPageForItself()
    {
        using Primary primary = Primary.Start(_fs, Dir);
        primary.Append([1]);
        Assert.False(primary.Writer.TryAppendAlone(primary.Writer.Tail, RecordKind.Trim, [2])); // something is on its way
        primary.Commit();
        Lsn tail = primary.Writer.Tail;
        Assert.False(primary.Writer.TryAppendAlone(tail + 4_096, RecordKind.Trim, [2])); // it goes on elsewhere
        Assert.False(primary.Writer.TryAppendAlone(tail, RecordKind.Trim, new byte[primary.Writer.ReserveBytesMax])); // it does not fit

        Assert.True(primary.Writer.TryAppendAlone(tail, RecordKind.Trim, [2]));
        Assert.False(primary.Writer.TryAppendAlone(tail, RecordKind.Trim, [3]));
        LoggedRecord next = primary.Append([4]);
        primary.Commit();

        Assert.Equal(tail + 4_096 + PageHeader.Bytes, next.Lsn);
        Assert.Equal([tail + PageHeader.Bytes, next.Lsn], LogContent.Read(_fs, Dir).Skip(1).Select(static record => record.Lsn));
    }

    [Fact]
    public void Pin_DurablePage_KeepsItReadableWhileOthersAreReused()
    {
        using Primary primary = Primary.Start(_fs, Dir);
        LoggedRecord record = primary.Append([9, 8, 7]);
        Assert.False(primary.Writer.TryPin(Lsn.Zero, out _)); // not durable
        primary.Commit();
        Assert.True(primary.Writer.TryPin(Lsn.Zero, out PinnedPage page));
        Assert.False(primary.Writer.TryPin(Lsn.Zero, out _)); // one pinner at a time
        page.Bytes[..PageHeader.Bytes].Fill(0xEE);
        for (int i = 0; i < 40; i++)
        {
            primary.Append(new byte[10_000]);
            primary.Commit();
        }
        var records = new List<LoggedRecord>();
        LogContent.Split(page.Records, page.RecordsLsn, records);
        Assert.Equal([record], records);
        Assert.Equal((Lsn.Zero, new Lsn(4_096)), (page.Lsn, page.Next));
        page.Unpin();
        Assert.Throws<InvalidOperationException>(page.Unpin);
        Assert.Equal(record, LogContent.Read(_fs, Dir)[0]); // what the pinner wrote is not in the log
    }

    [Fact]
    public void Pin_TwoPages_LeaveTheWholePoolToWriters()
    {
        using Primary primary = Primary.Start(_fs, Dir);
        byte[] page = new byte[primary.Writer.ReserveBytesMax - RecordHeader.Bytes];
        for (int i = 0; i < 3; i++) primary.Append(page);
        primary.Commit();
        Assert.True(primary.Writer.TryPin(Lsn.Zero, out PinnedPage first));
        Assert.True(primary.Writer.TryPin(first.Next, out PinnedPage second));
        Assert.False(primary.Writer.TryPin(second.Next, out _)); // two at a time
        for (int i = 0; i < Primary.Small.Pages; i++) primary.Append(page);
        Assert.False(primary.Writer.TryReserve(8, out _));
        primary.Commit();
        first.Unpin();
        second.Unpin();
    }

    [Fact]
    public void Pin_DeliveryIsBehind_FindsPagesInMemoryUpToTheBound()
    {
        using Primary primary = Primary.Start(_fs, Dir, Primary.Small with { Pages = 3, PagesKept = 2 });
        List<Lsn> pages = [.. Enumerable.Range(0, 10).Select(_ => CommitPage(primary))];
        Assert.Equal(pages[6..], pages.Where(lsn => IsInMemory(primary, lsn))); // five pages, one of which is open
    }

    [Theory]
    [InlineData(1, 3 + 8)]
    [InlineData(100, 3 + 20)]
    public void Pin_DeliveryIsBehind_KeepsManyPagesOnlyWhereTheyAreFull(int percent, int pagesMade)
    {
        using Primary primary = Primary.Start(_fs, Dir, Primary.Small with { Pages = 3, PagesKept = 20 });
        List<Lsn> pages = [.. Enumerable.Range(0, 40).Select(_ => CommitPage(primary, percent))];
        Assert.Equal(pages[^(pagesMade - 1)..], pages.Where(lsn => IsInMemory(primary, lsn))); // one is open
    }

    [Fact]
    public void Pin_DeliveryKeepsUp_LeavesWhatItReadToWritersFirst()
    {
        using Primary primary = Primary.Start(_fs, Dir, Primary.Small with { Pages = 3, PagesKept = 2 });
        Lsn first = CommitPage(primary), second = CommitPage(primary); // now a third page is open
        Assert.True(IsInMemory(primary, first));
        Lsn third = CommitPage(primary); // the first is open again, although there is room for more pages
        Assert.False(IsInMemory(primary, first));
        Assert.True(IsInMemory(primary, second));
        Assert.True(IsInMemory(primary, third));
    }

    private static Lsn CommitPage(Primary primary, int percent = 100)
    {
        Lsn page = primary.Writer.Tail;
        primary.Append(new byte[primary.Writer.ReserveBytesMax * percent / 100 - RecordHeader.Bytes]);
        primary.Commit();
        return page;
    }

    private static bool IsInMemory(Primary primary, Lsn lsn)
    {
        if (!primary.Writer.TryPin(lsn, out PinnedPage page)) return false;
        page.Unpin();
        return true;
    }

    [Fact]
    public void ReserveAndLeave_Allocate_Nothing()
    {
        using Primary primary = Primary.Start(_fs, Dir);
        long before = 0;
        for (int i = 0; i < 1_000; i++)
        {
            if (i == 10) before = GC.GetAllocatedBytesForCurrentThread(); // warm
            Assert.True(primary.Writer.TryReserve(8, out Reservation r));
            new RecordHeader(0, RecordKind.Run).Write(r.Bytes);
            primary.Writer.Leave(r);
        }
        Assert.Equal(before, GC.GetAllocatedBytesForCurrentThread());
    }

    [Fact]
    public void Time_OfPages_NeverDecreases()
    {
        var time = new SteppingTime();
        using Primary primary = Primary.Start(_fs, Dir, time: time);
        primary.Append([1]);
        primary.Commit();
        time.Now -= TimeSpan.FromDays(3);
        primary.Append([2]);
        primary.Commit();
        using var reader = new LogReader(_fs, Dir, primary.Identity, primary.Log.Chain);
        var buffer = new PageBuffer();
        reader.Read(Lsn.Zero, ref buffer);
        long first = buffer.TimeMicros;
        reader.Read(buffer.Next, ref buffer);
        Assert.Equal(first, buffer.TimeMicros);
    }
}
