using Ambrosia.Coordinator.Outboxes;
using Ambrosia.Coordinator.Replay;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Records;
using Ambrosia.Protocol.Runs;

namespace Ambrosia.Coordinator.Tests;

public sealed class BookTests
{
    private static readonly InstanceId s_x = new("x"), s_y = new("y");
    private static readonly TimeSpan s_t0 = TimeSpan.FromDays(1);

    private static DigestRecord Digest(ulong at, params (InstanceId To, ulong Count, ulong Hash)[] entries) =>
        new(new Lsn(at), [.. entries.Select(static e => new DigestEntry(e.To, e.Count, e.Hash))]);

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void Digest_EqualInEitherOrder_Passes(bool recordFirst)
    {
        var book = new DigestTracker(new Lsn(1000));
        if (recordFirst) book.Recorded(Digest(10, (s_x, 1, 7)));
        Assert.False(book.Computed(Digest(10, (s_x, 1, 7)))); // below where we log
        if (!recordFirst) book.Recorded(Digest(10, (s_x, 1, 7)));
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void Digest_DifferentInEitherOrder_DivergesAndSaysWhere(bool recordFirst)
    {
        var book = new DigestTracker(new Lsn(1000));
        DigestRecord own = Digest(10, (s_x, 2, 8), (s_y, 1, 1)), log = Digest(10, (s_x, 2, 9), (s_y, 1, 1));
        if (recordFirst) book.Recorded(log); else book.Computed(own);
        var diverged = Assert.Throws<DivergenceException>(() => { if (recordFirst) book.Computed(own); else book.Recorded(log); });
        Assert.Contains("position 10", diverged.Message);
        Assert.Contains("2 calls with hash 0000000000000009 to x, the app emitted 2 with 0000000000000008", diverged.Message);
    }

    [Fact]
    public void Digest_EmittedToAnUnnamedDestination_Diverges()
    {
        var book = new DigestTracker(new Lsn(1000));
        book.Recorded(Digest(10, (s_x, 1, 7)));
        Assert.Throws<DivergenceException>(() => book.Computed(Digest(10, (s_x, 1, 7), (s_y, 1, 1))));
    }

    [Fact]
    public void Digest_PositionsFromOurEpochOn_AreLoggedOnce()
    {
        var book = new DigestTracker(new Lsn(100));
        Assert.False(book.Computed(Digest(99)));
        Assert.True(book.Computed(Digest(200)));
        book.BeginSession(Lsn.Zero); // the app died: its successor passes the same positions
        Assert.False(book.Computed(Digest(200)));
        book.Recorded(Digest(200));
        Assert.True(book.Computed(Digest(300)));
        book.Recorded(Digest(300));
    }

    [Fact]
    public void Digest_PositionWhoseRecordWasLost_IsSkipped()
    {
        var book = new DigestTracker(new Lsn(1000));
        Assert.False(book.Computed(Digest(10, (s_x, 1, 1))));
        Assert.False(book.Computed(Digest(20, (s_x, 2, 2))));
        book.Recorded(Digest(20, (s_x, 2, 2)));
        Assert.Throws<DivergenceException>(() => { book.Computed(Digest(30, (s_x, 3, 3))); book.Recorded(Digest(30, (s_x, 3, 4))); });
    }

    [Fact]
    public void Trim_OfManyPeers_TakesSeveralRecordsAndLeavesNoneOut()
    {
        var book = new TrimBatcher();
        for (uint origin = 1; origin <= 2000; origin++) book.Acknowledged(origin, origin * 10ul, 1, s_t0);
        var stated = new Dictionary<uint, ulong>();
        int records = 0;
        while (book.Due(s_t0 + TimeSpan.FromSeconds(2)) is { } record)
        {
            records++;
            Assert.InRange(RecordKinds.EncodeWhole(record).Length, 1, 8192 - 64); // the smallest page holds it
            foreach (TrimPosition position in record.Positions) stated.Add(position.Origin, position.Number);
        }
        Assert.Equal((4, 2000), (records, stated.Count));
        Assert.All(stated, static pair => Assert.Equal(pair.Key * 10ul, pair.Value));
        Assert.Null(book.Due(s_t0 + TimeSpan.FromHours(1)));
    }

    [Fact]
    public void Progress_Reports_ReleaseWholePagesAndDemandEveryMark()
    {
        var book = new DeliveryTracker();
        book.Begin(new Lsn(64), new Lsn(0));
        var done = new List<DeliveredPage>();
        book.Delivered(new DeliveredPage(new Lsn(0), new Lsn(64), new Lsn(200), new InputPosition(1, 10, default, 0), []), []);
        var marked = new DeliveredPage(new Lsn(4096), new Lsn(4160), new Lsn(5000), new InputPosition(2, 20, default, 0), []);
        Assert.Equal(new Lsn(4500), book.Delivered(marked with { Mark = new Lsn(4500) }, []));
        Assert.False(book.Report(new Lsn(199), done));
        Assert.Empty(done);
        Assert.False(book.Report(new Lsn(200), done));
        Assert.Equal((1ul, 10ul), (Assert.Single(done).Self.Number, done[0].Self.Hash));
        Assert.Equal("P5.6", Assert.Throws<ProtocolViolation>(() => book.Report(new Lsn(199), done)).Section);
        Assert.Equal("P5.6", Assert.Throws<ProtocolViolation>(() => book.Report(new Lsn(5000), done)).Section); // passes over the mark
        Assert.True(book.Report(new Lsn(4500), done));
        Assert.Equal((1, new Lsn(4096)), (done.Count, book.ProcessedPage));
        Assert.Equal("P5.6", Assert.Throws<ProtocolViolation>(() => book.Report(new Lsn(5001), done)).Section); // was never delivered
        Assert.False(book.Report(new Lsn(5000), done));
        Assert.Equal((2, new Lsn(5000), new Lsn(4096)), (done.Count, book.Processed, book.ProcessedPage));
    }

    /// <summary>
    /// Where a page has no digest position the app is asked to report where an earlier session stood, and must; where it has another, it is
    /// not asked, since a frame has one mark.
    /// </summary>
    [Theory]
    [InlineData(null, 200, true)]
    [InlineData(200, 200, true)]
    [InlineData(150, 150, false)]
    public void Progress_PlaceThatIsAwaited_IsTheMarkOfAPageThatHasNoOther(int? digest, int mark, bool mustReport)
    {
        var book = new DeliveryTracker();
        book.Begin(new Lsn(64), new Lsn(0), awaited: new Lsn(200));
        var page = new DeliveredPage(new Lsn(0), new Lsn(64), new Lsn(200), default, []);
        Lsn? position = digest is { } at ? new Lsn((ulong)at) : null;
        Assert.Equal(new Lsn((ulong)mark), book.Delivered(page with { Mark = position }, []));
        var next = new DeliveredPage(new Lsn(4096), new Lsn(4160), new Lsn(5000), default, []);
        Assert.Null(book.Delivered(next, []));
        if (mark != 200) book.Report(new Lsn((ulong)mark), []);
        if (mustReport) Assert.Equal("P5.6", Assert.Throws<ProtocolViolation>(() => book.Report(new Lsn(4200), [])).Section);
        book.Report(new Lsn(200), []);
        Assert.Equal(mustReport, book.IsAtBoundary);
        book.Report(new Lsn(4200), []);
        Assert.False(book.IsAtBoundary); // inside a page
        book.Report(new Lsn(5000), []);
        Assert.True(book.IsAtBoundary);
    }

    [Fact]
    public void Trims_Acknowledged_AreDueByBytesOrTimeAndLoggedOnce()
    {
        var book = new TrimBatcher();
        Assert.Null(book.Due(s_t0 + TimeSpan.FromDays(1)));
        book.Acknowledged(2, 10, 100, s_t0);
        book.Acknowledged(1, 5, 100, s_t0);
        book.Acknowledged(2, 9, 100, s_t0); // a lower one has no effect
        Assert.Null(book.Due(s_t0 + TimeSpan.FromMilliseconds(999)));
        Assert.Equal([new TrimPosition(1, 5), new TrimPosition(2, 10)], book.Due(s_t0 + TimeSpan.FromSeconds(1))!.Positions);
        Assert.Null(book.Due(s_t0 + TimeSpan.FromDays(1)));
        book.Acknowledged(1, 6, (16 << 20) - 1, s_t0);
        Assert.Null(book.Due(s_t0));
        book.Acknowledged(3, 1, 1, s_t0);
        Assert.Equal(2, book.Due(s_t0)!.Positions.Count);
    }

    [Fact]
    public void Trims_RecordThatFoundNoRoom_IsDueAgain()
    {
        var book = new TrimBatcher();
        book.Acknowledged(1, 5, 100, s_t0);
        TrimRecord record = book.Due(s_t0 + TimeSpan.FromSeconds(1))!;
        book.Acknowledged(1, 8, 100, s_t0 + TimeSpan.FromSeconds(1));
        book.GiveBack(record, s_t0 + TimeSpan.FromSeconds(1));
        Assert.Equal([new TrimPosition(1, 8)], book.Due(s_t0 + TimeSpan.FromSeconds(2))!.Positions);
        book.GiveBack(record, s_t0 + TimeSpan.FromSeconds(2));
        Assert.Equal([new TrimPosition(1, 5)], book.Due(s_t0 + TimeSpan.FromSeconds(3))!.Positions);
    }

    // ---- the fold ----

    private static ReplayState WithPeer()
    {
        var state = new ReplayState();
        Fold(state, new PeerRecord(1, s_x, Guid.Empty, new Epoch(2)));
        return state;
    }

    private static void Fold<T>(ReplayState state, T record) where T : IRecordBody<T> => Fold(state, RecordKinds.EncodeWhole(record));

    private static void Fold(ReplayState state, byte[] whole) => PageFold.Fold(state, whole, new Lsn(64), 0, Lsn.Zero, new Lsn(1 << 30));

    private static byte[] RunRecord(MessageKind kind, uint origin, ulong first, ulong hash, int count = 1)
    {
        byte[] run = Made.Run(kind, first, hash,
            [.. Enumerable.Range(0, count).Select(i => Made.Message(kind, (ulong)i, 3))], peer: origin);
        byte[] whole = [.. new byte[RecordHeader.Bytes], .. run];
        new RecordHeader((uint)run.Length, kind == MessageKind.Impulse ? RecordKind.ImpulseRun : RecordKind.Run).Write(whole);
        return whole;
    }

    [Theory]
    [InlineData(1, 2, "L5.2")] // a gap
    [InlineData(2, 1, "L5.2")] // of nobody
    public void Fold_RunThatBreaksI1_IsDamage(uint origin, ulong first, string section) =>
        Assert.Equal(section,
            Assert.Throws<ProtocolViolation>(() => Fold(WithPeer(), RunRecord(MessageKind.Fork, origin, first, 1))).Section);

    [Theory]
    [InlineData(0)] // oneself: calls to oneself are trimmed without a record
    [InlineData(2)] // nobody
    [InlineData(uint.MaxValue)]
    public void Fold_TrimOfAnUnknownOrigin_IsDamage(uint origin)
    {
        ReplayState state = WithPeer();
        Fold(state, new TrimRecord([new TrimPosition(1, 4)]));
        Assert.Equal("L5.6", Assert.Throws<ProtocolViolation>(() => Fold(state, new TrimRecord([new TrimPosition(origin, 9)]))).Section);
        Assert.Equal([new KeyValuePair<uint, ulong>(1, 4)], state.Trims);
    }

    [Fact]
    public void Fold_RunAgain_IsDamage()
    {
        ReplayState state = WithPeer();
        Fold(state, RunRecord(MessageKind.Fork, 1, 1, 5, count: 3));
        Assert.Equal(new InputPosition(3, 5, new Epoch(2), 0), state.InputsOf(1));
        Assert.Throws<ProtocolViolation>(() => Fold(state, RunRecord(MessageKind.Fork, 1, 3, 6)));
        Fold(state, RunRecord(MessageKind.Call, 1, 4, 7));
        Assert.Equal(4ul, state.InputsOf(1).Number);
    }

    [Fact]
    public void Fold_PeerRecords_MustBeDenseAndNeverGoBack()
    {
        ReplayState state = WithPeer();
        Fold(state, RunRecord(MessageKind.Impulse, 1, 1, 2, count: 4));
        Assert.Equal(4ul, state.InputsOf(1).Impulses);
        Fold(state, new PeerRecord(1, s_x, Guid.Empty, new Epoch(3))); // impulses of lower epochs are forgotten
        Assert.Equal((new Epoch(3), 0ul), (state.InputsOf(1).ImpulseEpoch, state.InputsOf(1).Impulses));
        Fold(state, RunRecord(MessageKind.Impulse, 1, 1, 3));
        foreach (PeerRecord wrong in new[]
            { new PeerRecord(3, s_y, Guid.Empty, new Epoch(1)), new PeerRecord(1, s_x, Guid.Empty, new Epoch(2)),
            new PeerRecord(1, s_y, Guid.Empty, new Epoch(4)) })
            Assert.Equal("L5.4", Assert.Throws<ProtocolViolation>(() => Fold(state, wrong)).Section);
    }

    [Fact]
    public void Fold_SpanningRunWhoseExtensionsFillThePage_TakesItsHeader()
    {
        ReplayState state = WithPeer();
        byte[] run = Made.Run(MessageKind.Failure, 1, 9, [Made.Message(MessageKind.Failure, 1, 50)], Made.Extension(10_000), peer: 1);
        byte[] whole = [.. new byte[RecordHeader.Bytes], .. run];
        new RecordHeader((uint)run.Length, RecordKind.Run).Write(whole);
        PageFold.Fold(state, whole.AsSpan(0, 8128), new Lsn(64), (uint)(whole.Length - 8128), Lsn.Zero, new Lsn(1 << 30));
        Assert.Equal((1ul, 9ul), (state.InputsOf(1).Number, state.InputsOf(1).Hash));
    }

    [Fact]
    public void Fold_Clone_IsApart()
    {
        ReplayState state = WithPeer();
        Fold(state, new TrimRecord([new TrimPosition(1, 3)]));
        ReplayState copy = state.Clone();
        Fold(state, RunRecord(MessageKind.Fork, 1, 1, 5));
        Fold(state, new TrimRecord([new TrimPosition(1, 4)]));
        Assert.Equal((0ul, 3ul, 4ul), (copy.InputsOf(1).Number, copy.Trims[1], state.Trims[1]));
    }
}
