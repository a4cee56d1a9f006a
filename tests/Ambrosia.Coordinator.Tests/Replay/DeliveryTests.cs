using System.Buffers.Binary;
using Ambrosia.Coordinator.LogFeed;
using Ambrosia.Coordinator.Replay;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Log.Format;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Records;
using Ambrosia.Protocol.Runs;
using Ambrosia.TestKit;

namespace Ambrosia.Coordinator.Tests;

/// <summary>What the app is given is exactly what the log holds, wherever it begins and wherever the pages are.</summary>
public sealed class DeliveryTests : IDisposable
{
    private const ulong DigestEvery = 1 << 20;
    private static readonly LogOptions s_options = OpenedLog.Small with { PageBytes = 16384, SegmentBytes = 2 << 20 };
    private readonly OpenedLog _log = new(options: s_options);
    private readonly OutboxBench _bench = new();
    private readonly DeliveryTracker _progress = new();
    private ulong _next = 1;

    private Replay.Delivery NewDelivery() =>
        new(ReplicaLog.Of(_log.Writer), _log.Readers, DigestEvery, _progress, new DigestTracker(new Lsn(Lsn.Limit - 1)), _bench.Set);

    /// <summary>Appends one run of a peer, larger than a page now and then.</summary>
    private void Append(SimulatedRandom random)
    {
        if (_log.Writer.Tail == Lsn.Zero) _log.Append(new PeerRecord(1, OutboxBench.Peer, Guid.Empty, new Epoch(1)));
        byte[] run = Made.Run(MessageKind.Fork, _next, _next,
            [Made.Message(MessageKind.Fork, _next, random.Chance(2) ? random.Next(100_000) : random.Next(4000))], peer: 1);
        while (!_log.Appender.TryAppendRun(RecordKind.Run, RunHeader.Read(run), run.AsSpan(RunHeader.Bytes), static _ => { })) _log.Commit();
        _next++;
    }

    /// <summary>Puts what is delivered together: frames whole, records with their Lsns, marks.</summary>
    private sealed class App
    {
        private readonly List<byte> _partial = [];
        private int _wanted;

        public List<(Lsn Lsn, byte[] Whole)> Records { get; } = [];

        public List<Lsn> Marks { get; } = [];

        public void Take(ReadOnlySpan<byte> bytes)
        {
            if (_partial.Count == 0) _wanted = FrameHeader.Bytes + (int)BinaryPrimitives.ReadUInt32LittleEndian(bytes);
            _partial.AddRange(bytes);
            Assert.True(_partial.Count <= _wanted, "a frame's bytes come one behind another");
            if (_partial.Count < _wanted) return;
            (FrameType type, byte[] payload) = Assert.Single(Made.FramesOf([.. _partial], 0, checkPayload: false));
            Assert.Equal(FrameType.Deliver, type);
            _partial.Clear();
            DeliverHeader header = DeliverHeader.Read(payload);
            var records = new RecordReader(payload.AsSpan(DeliverHeader.Bytes), header.First);
            int before = Records.Count;
            while (records.Next()) Records.Add((records.Lsn, records.Whole.ToArray()));
            if (header.Mark == Lsn.Zero) return;
            Assert.Contains(Records.Skip(before), r => r.Lsn == header.Mark);
            Marks.Add(header.Mark);
        }
    }

    private static void Drain(Replay.Delivery delivery, App app)
    {
        while (delivery.TryTake(out ReadOnlyMemory<byte> bytes))
        {
            app.Take(bytes.Span);
            delivery.Taken();
        }
    }

    private static List<Lsn> MarksOf(List<LoggedRecord> records, Lsn from)
    {
        var marks = new List<Lsn>();
        for (ulong multiple = DigestEvery; multiple <= records[^1].Lsn.Value; multiple += DigestEvery)
        {
            Lsn mark = records.First(r => r.Lsn.Value >= multiple).Lsn;
            if (mark >= from && !marks.Contains(mark)) marks.Add(mark);
        }
        return marks;
    }

    /// <summary>A stretch that is executed again: the app reports at the beginning of each record.</summary>
    [Fact]
    public void TryTake_OneByOne_GivesEveryRecordInAFrameWithItsOwnMark()
    {
        var random = new SimulatedRandom(3);
        while (_next < 150) Append(random);
        _log.Commit();
        using var delivery = new Replay.Delivery(ReplicaLog.Of(_log.Writer), _log.Readers, DigestEvery, _progress,
            new DigestTracker(new Lsn(Lsn.Limit - 1)), _bench.Set) { OneByOne = true };
        List<LoggedRecord> all = _log.Records();
        foreach (Lsn from in (Lsn[])[Lsn.Zero, all[0].Lsn, all[5].Lsn, all[^1].Lsn])
        {
            ReplayState state = new();
            foreach (LoggedRecord before in all.TakeWhile(r => r.Lsn < from))
                PageFold.Fold(state, before.Whole, before.Lsn, 0, Lsn.Zero, from);
            delivery.Begin(from == Lsn.Zero ? Lsn.Zero : all.First(r => r.Lsn == from).Page, from, state, null, _log.Writer.Durable, (1, 1));
            var app = new App();
            Drain(delivery, app);
            Assert.Equal(all.Where(r => r.Lsn >= from).Select(static r => r.Lsn), app.Records.Select(static r => r.Lsn));
            Assert.Equal(all.Where(r => r.Lsn >= from).Select(static r => Convert.ToHexString(r.Whole)),
                app.Records.Select(static r => Convert.ToHexString(r.Whole)));
            Assert.Equal(app.Records.Select(static r => r.Lsn), app.Marks);
        }
    }

    [Fact]
    public void TryTake_LiveAndFromFiles_GivesEveryRecordOnceAndTheMarks()
    {
        var random = new SimulatedRandom(1);
        using Replay.Delivery live = NewDelivery();
        var app = new App();
        _progress.Begin(Lsn.Zero, Lsn.Zero);
        live.Begin(Lsn.Zero, Lsn.Zero, new ReplayState(), Lsn.Zero, Lsn.Zero, (1, 1));
        while (_log.Writer.Tail.Value < 4 * DigestEvery)
        {
            int burst = random.Next(1, 60);
            for (int i = 0; i < burst; i++) Append(random);
            if (random.Chance(70)) _log.Commit();
            for (int i = random.Next(10); i > 0 && live.TryTake(out ReadOnlyMemory<byte> bytes); i--)
            {
                app.Take(bytes.Span);
                Assert.True(live.Next <= _log.Writer.Durable);
                live.Taken();
            }
        }
        _log.Commit();
        Drain(live, app);

        List<LoggedRecord> all = _log.Records();
        AssertSame(all, app, Lsn.Zero);
        Assert.Equal((_next - 1, all.Count), (live.State.InputsOf(1).Number, (int)live.Records));
        Assert.True(app.Marks.Count >= 3);

        // The same from records in the middle of pages, as sessions begin behind a checkpoint.
        for (int i = 0; i < 40; i++)
        {
            LoggedRecord at = random.Pick(all);
            var state = new ReplayState();
            foreach (LoggedRecord record in all.TakeWhile(r => r.Lsn < at.Lsn))
                PageFold.Fold(state, record.Whole, record.Lsn, 0, Lsn.Zero, at.Lsn);
            List<Lsn> before = MarksOf(all, Lsn.Zero).FindAll(m => m < at.Lsn);
            var late = new App();
            _progress.Begin(at.Lsn, at.Page);
            live.Begin(at.Page, at.Lsn, state, before.Count > 0 ? before[^1] : null, Lsn.Zero, (1, 1));
            Drain(live, late);
            AssertSame(all, late, at.Lsn);
        }
    }

    private static void AssertSame(List<LoggedRecord> all, App app, Lsn from)
    {
        List<LoggedRecord> expected = all.FindAll(r => r.Lsn >= from);
        Assert.Equal(expected.Select(static r => r.Lsn), app.Records.Select(static r => r.Lsn));
        for (int i = 0; i < expected.Count; i++)
            Assert.True(expected[i].Whole.AsSpan().SequenceEqual(app.Records[i].Whole), $"record at {expected[i].Lsn}");
        Assert.Equal(MarksOf(all, from), app.Marks);
    }

    /// <summary>
    /// A primary whose log does not have a page any more that is durable and was not delivered halts, and says which; it was
    /// truncated above what is needed.
    /// </summary>
    [Fact]
    public void TryTake_SegmentNoLongerThere_IsDamageOfThatPage()
    {
        var random = new SimulatedRandom(3);
        while (_log.Chain.Segments.Length < 3)
        {
            Append(random);
            _log.Commit();
        }
        using Replay.Delivery delivery = NewDelivery();
        _progress.Begin(Lsn.Zero, Lsn.Zero);
        delivery.Begin(Lsn.Zero, Lsn.Zero, new ReplayState(), Lsn.Zero, Lsn.Zero, (1, 1));
        _log.Writer.Release(_log.Chain.Segments[0]);
        LogDamage damage = Assert.Throws<LogDamage>(() => delivery.TryTake(out _));
        Assert.Equal((OpenedLog.Directory, Lsn.Zero), (damage.File, damage.Lsn!.Value));
        Assert.Contains("a segment that holds the page of Lsn 0, which is durable", damage.Message, StringComparison.Ordinal);
    }

    /// <summary>
    /// A session that begins in the middle of a page that is still in memory must not spoil it for one that begins earlier.
    /// </summary>
    [Fact]
    public void Begin_InTheMiddleOfALivePage_LeavesThePageWhole()
    {
        var random = new SimulatedRandom(2);
        while (_log.Writer.Tail.Value < 9000) Append(new SimulatedRandom(random.NextUInt64() | 1));
        _log.Commit();
        List<LoggedRecord> all = _log.Records();
        LoggedRecord middle = all.Last(r => r.Page == all[1].Page);
        using Replay.Delivery delivery = NewDelivery();
        var state = new ReplayState();
        foreach (LoggedRecord record in all.TakeWhile(r => r.Lsn < middle.Lsn))
            PageFold.Fold(state, record.Whole, record.Lsn, 0, Lsn.Zero, middle.Lsn);
        _progress.Begin(middle.Lsn, middle.Page);
        delivery.Begin(middle.Page, middle.Lsn, state, Lsn.Zero, Lsn.Zero, (1, 1));
        Drain(delivery, new App());
        var app = new App();
        _progress.Begin(Lsn.Zero, Lsn.Zero);
        delivery.Begin(Lsn.Zero, Lsn.Zero, new ReplayState(), Lsn.Zero, Lsn.Zero, (1, 1));
        Drain(delivery, app);
        AssertSame(all, app, Lsn.Zero);
    }

    [Fact]
    public void TryTake_PageWithTrims_NotesThemForTheirOutbox()
    {
        _log.Append(new PeerRecord(1, OutboxBench.Peer, Guid.Empty, new Epoch(1)));
        _log.Append(new TrimRecord([new TrimPosition(1, 12)]));
        _log.Commit();
        using Replay.Delivery delivery = NewDelivery();
        _progress.Begin(Lsn.Zero, Lsn.Zero);
        delivery.Begin(Lsn.Zero, Lsn.Zero, new ReplayState(), null, Lsn.Zero, (1, 1));
        Drain(delivery, new App());
        var done = new List<DeliveredPage>();
        _progress.Report(_log.Records()[^1].End, done);
        Assert.Equal(new OutboxTrim(_bench.Outbox, 0, 12), Assert.Single(Assert.Single(done).Trims));
    }

    /// <summary>A digest of thousands of destinations spans pages: the app gets it whole, and it is compared like any other.</summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void TryTake_DigestThatSpansPages_IsDeliveredAndCompared(bool differs)
    {
        DigestEntry[] entries = [
            .. Enumerable.Range(0, 4000)
                .Select(static i => new DigestEntry(new InstanceId($"destination-{i}"), (ulong)i + 1, (ulong)i * 3))];
        var record = new DigestRecord(new Lsn(DigestEvery), entries);
        _log.Append(new PeerRecord(1, OutboxBench.Peer, Guid.Empty, new Epoch(1)));
        _log.Append(record);
        Append(new SimulatedRandom(3));
        _log.Commit();
        List<LoggedRecord> all = _log.Records();
        Assert.Equal(record, DigestRecord.Read(all.Single(static r => r.Kind == RecordKind.Digest).Body));
        Assert.True(all.Single(static r => r.Kind == RecordKind.Digest).Whole.Length > 4 * s_options.PageBytes);

        var book = new DigestTracker(new Lsn(Lsn.Limit - 1));
        book.Computed(differs ? record with { Entries = [.. entries[..^1], entries[^1] with { Hash = 1 }] } : record);
        using var delivery = new Replay.Delivery(ReplicaLog.Of(_log.Writer), _log.Readers, DigestEvery, _progress, book, _bench.Set);
        _progress.Begin(Lsn.Zero, Lsn.Zero);
        delivery.Begin(Lsn.Zero, Lsn.Zero, new ReplayState(), null, Lsn.Zero, (1, 1));
        var app = new App();
        if (differs)
        {
            Assert.Contains("destination-3999", Assert.Throws<DivergenceException>(() => Drain(delivery, app)).Message);
            return;
        }
        Drain(delivery, app);
        AssertSame(all, app, Lsn.Zero);
    }

    public void Dispose()
    {
        _bench.Dispose();
        _log.Dispose();
    }
}
