using Ambrosia.Coordinator.Inbox;
using Ambrosia.Coordinator.Replay;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Records;
using Ambrosia.Protocol.Runs;
using Ambrosia.TestKit;

namespace Ambrosia.Coordinator.Tests;

public sealed class InboundRunsTests : IDisposable
{
    private const uint MessageBytesMax = 1 << 20;
    private static readonly InstanceId s_peer = new("peer");
    private readonly OpenedLog _log = new();
    private readonly DedupTable _dedup = new(new InstanceId("self"));
    private readonly InboundChannel _origin;
    private readonly InboundRuns _runs;

    public InboundRunsTests()
    {
        _origin = _dedup.Admitted(s_peer, Guid.NewGuid(), new Epoch(3));
        _runs = new InboundRuns(_log.Appender, _dedup, _origin, MessageBytesMax);
        _log.DurableAdvanced = durable => _dedup.AdvanceDurable(durable, [], out _);
    }

    [Fact]
    public void TryTake_AnyOverlap_LogsEveryMessageOnce() => Made.Seeds(100, random =>
    {
        using var own = new OpenedLog();
        var fresh = new DedupTable(new InstanceId("self"));
        InboundChannel from = fresh.Admitted(s_peer, Guid.NewGuid(), new Epoch(3));
        var inbound = new InboundRuns(own.Appender, fresh, from, MessageBytesMax);
        Channel channel = Channel.Random(random, 60);
        for (ulong have = 0; have < channel.Count;)
        {
            // what went before may come again
            ulong first = (ulong)random.Next((int)Math.Max(1, (long)have - 8), (int)have + 2), last = first;
            while (last < channel.Count && channel.Messages[(int)last].Kind == channel.Messages[(int)first - 1].Kind && random.Chance(80))
                last++;
            byte[] run = channel.LinkRun(first, last, random.Chance(30) ? Made.Extension(7) : null);
            while (!inbound.TryTake(run)) own.Commit();
            have = Math.Max(have, last);
            Assert.Equal((have, channel.Positions[(int)have].Hash), (fresh.AppendedOf(from).Number, fresh.AppendedOf(from).Hash));
        }
        own.Commit();
        AssertLogged(own, channel);
    });

    /// <summary>P3.5: the longest run is taken, logged and fits the Deliver frame to the byte; one byte more is refused.</summary>
    [Theory]
    [InlineData(MessageBytesMax)]
    [InlineData(1000u)]
    public void TryTake_LongestRun_CanBeDelivered(uint messageBytesMax)
    {
        var inbound = new InboundRuns(_log.Appender, _dedup, _origin, messageBytesMax);
        byte[] message = Made.Message(MessageKind.Fork, 1, (int)messageBytesMax - 20);
        int left = (int)SizeLimits.RunBytesMax(messageBytesMax) - RunHeader.Bytes - message.Length;
        byte[] RunOf(int extensionBytes) => Made.FirstRun(MessageKind.Fork, [message], Made.Extension(extensionBytes - 5));
        Assert.Equal("P3.5", Assert.Throws<ProtocolViolation>(() => inbound.TryTake(RunOf(left + 1))).Section);
        Assert.True(inbound.TryTake(RunOf(left)));
        _log.Commit();
        LoggedRecord record = Assert.Single(_log.Records());
        Assert.Equal(SizeLimits.PayloadBytesMax(messageBytesMax), (uint)(DeliverHeader.Bytes + record.Whole.Length));
    }

    [Fact]
    public void TryTake_OverlapAtEveryMessage_CutsThereAndKeepsExtensions()
    {
        for (ulong known = 1; known <= 10; known++)
        {
            using var own = new OpenedLog();
            var fresh = new DedupTable(new InstanceId("self"));
            var inbound = new InboundRuns(own.Appender, fresh, fresh.Admitted(s_peer, Guid.NewGuid(), new Epoch(3)), MessageBytesMax);
            var channel = new Channel();
            for (ulong i = 1; i <= 10; i++) channel.Add(MessageKind.Call, Made.Message(MessageKind.Call, i, (int)i));
            Assert.True(inbound.TryTake(channel.LinkRun(1, known)));
            Assert.True(inbound.TryTake(channel.LinkRun(1, 10, Made.Extension(5))));
            own.Commit();
            List<LoggedRecord> records = own.Records();
            Assert.Equal(known == 10 ? 1 : 2, records.Count);
            AssertLogged(own, channel);
            if (known < 10) Assert.Equal(Made.Extension(5), RunView.Read(records[1].Body).Extensions.ToArray());
        }
    }

    private static void AssertLogged(OpenedLog log, Channel channel)
    {
        var state = new ReplayState();
        state.Fold(Reader(new PeerRecord(1, s_peer, Guid.NewGuid(), new Epoch(3))));
        var messages = new List<byte[]>();
        foreach (LoggedRecord record in log.Records())
        {
            RunView run = RunView.Read(record.Body);
            state.FoldRun(record.Lsn, run.Header); // I1 is checked here
            Assert.Equal((1u, channel.Positions[(int)run.Header.Last].Hash), (run.Header.Peer, run.Header.Hash));
            messages.AddRange(Made.MessagesOf(run));
        }
        Assert.Equal(channel.Messages.Select(static m => m.Bytes), messages);
    }

    private static RecordReader Reader<T>(T record) where T : IRecordBody<T>
    {
        var reader = new RecordReader(RecordKinds.EncodeWhole(record), Lsn.Zero);
        Assert.True(reader.Next());
        return reader;
    }

    /// <summary>
    /// A sender that was killed makes other calls than before. Those that were in flight are logged here, so they are passed over; what
    /// follows them must not be taken for their continuation.
    /// </summary>
    [Theory]
    [InlineData(1, 3)] // they end where the logged calls end
    [InlineData(1, 5)]
    [InlineData(3, 5)]
    [InlineData(4, 5)]
    public void TryTake_OtherCallsUnderLoggedNumbers_AreRefused(ulong first, ulong last)
    {
        Channel logged = Of(1), others = Of(2);
        Assert.True(_runs.TryTake(logged.LinkRun(1, 3)));
        var again = new InboundRuns(_log.Appender, _dedup, _origin, MessageBytesMax);
        Assert.Equal("P6.6", Assert.Throws<ProtocolViolation>(() => again.TryTake(others.LinkRun(first, last))).Section);
        Assert.True(again.TryTake(logged.LinkRun(first, last)));
        Assert.Equal(Math.Max(3, last), _dedup.AppendedOf(_origin).Number);

        static Channel Of(int filling)
        {
            var channel = new Channel();
            for (ulong i = 1; i <= 5; i++) channel.Add(MessageKind.Call, Made.Message(MessageKind.Call, i, filling));
            return channel;
        }
    }

    [Theory]
    [InlineData("gap", "P6.6")]
    [InlineData("hash", "P6.6")]
    [InlineData("peer", "P3")]
    [InlineData("epoch", "P6.7")]
    [InlineData("request", "P3.2")]
    [InlineData("zero", "P3.8")]
    [InlineData("count", "P3.1")]
    [InlineData("long", "P3.4")]
    public void TryTake_Malformed_IsRefusedAndNothingIsLogged(string what, string section)
    {
        byte[] message = Made.Message(MessageKind.Fork, 1, 4), impulse = Made.Message(MessageKind.Impulse, 1, 4);
        byte[] run = what switch
        {
            "gap" => Made.Run(MessageKind.Fork, 2, 0, [message]),
            "hash" => Made.Run(MessageKind.Fork, 1, 7, [message]),
            "peer" => Made.Run(MessageKind.Fork, 1, 0, [message], peer: 1),
            "epoch" => Made.Run(MessageKind.Impulse, 1, 2, [impulse]),
            "request" => Made.Run(MessageKind.ClientRequest, 1, 3, [impulse]),
            "zero" => Made.Run(MessageKind.Fork, 0, 0, [message]),
            "count" => [.. Made.Run(MessageKind.Fork, 1, 0, [message]), .. message],
            _ => Made.Run(MessageKind.Fork, 1, 0, [Made.Message(MessageKind.Fork, 1, (int)MessageBytesMax + 1)]),
        };
        Lsn tail = _log.Writer.Tail;
        Assert.Equal(section, Assert.Throws<ProtocolViolation>(() => _runs.TryTake(run)).Section);
        Assert.Equal((tail, default), (_log.Writer.Tail, _dedup.AppendedOf(_origin)));
    }

    [Fact]
    public void TryTake_ImpulsesOfANewEpoch_CountFromOneAgain()
    {
        byte[] impulse = Made.Message(MessageKind.Impulse, 1, 4);
        Assert.True(_runs.TryTake(Made.Run(MessageKind.Impulse, 1, 3, [impulse, impulse])));
        Assert.True(_runs.TryTake(Made.Run(MessageKind.Impulse, 2, 3, [impulse, impulse]))); // one of them again
        Assert.Equal(3ul, _dedup.AppendedOf(_origin).Impulses);
        _dedup.Admitted(s_peer, _origin.Uuid, new Epoch(5));
        Assert.Throws<ProtocolViolation>(() => _runs.TryTake(Made.Run(MessageKind.Impulse, 4, 3, [impulse])));
        Assert.True(_runs.TryTake(Made.Run(MessageKind.Impulse, 1, 5, [impulse])));
        Assert.Equal((new Epoch(5), 1ul), (_dedup.AppendedOf(_origin).ImpulseEpoch, _dedup.AppendedOf(_origin).Impulses));
    }

    [Fact]
    public void TryTake_NoRoom_ChangesNothingAndSucceedsAfterACommit()
    {
        var channel = new Channel();
        for (ulong i = 1; i <= 100; i++) channel.Add(MessageKind.Fork, Made.Message(MessageKind.Fork, i, 2000));
        ulong next = 1;
        while (_runs.TryTake(channel.LinkRun(next, next))) next++;
        Assert.InRange(next, 4ul, 20ul);
        Assert.Equal((next - 1, 0ul), (_dedup.AppendedOf(_origin).Number, _dedup.DurableOf(_origin).Number));
        _log.Commit();
        for (; next <= 100; next++)
            while (!_runs.TryTake(channel.LinkRun(next, next))) _log.Commit();
        _log.Commit();
        AssertLogged(_log, channel);
    }

    [Fact]
    public void TryTake_RunLargerThanAPage_IsLoggedOnce()
    {
        var channel = new Channel();
        for (ulong i = 1; i <= 3; i++) channel.Add(MessageKind.Fork, Made.Message(MessageKind.Fork, i, 30_000));
        for (ulong i = 1; i <= 3; i++)
            while (!_runs.TryTake(channel.LinkRun(i, i))) _log.Commit();
        _log.Commit();
        AssertLogged(_log, channel);
        _log.Append(new CheckpointMarkRecord(_log.Epoch, 0, "r0")); // at the latest with the next commit
        _log.Commit();
        Assert.Equal(3ul, _dedup.DurableOf(_origin).Number);
    }

    [Fact]
    public void AdvanceDurable_StepByStep_AcknowledgesOnlyWhatIsDurable()
    {
        var channel = new Channel();
        for (ulong i = 1; i <= 40; i++) channel.Add(MessageKind.Fork, Made.Message(MessageKind.Fork, i, 300));
        var random = new SimulatedRandom(1);
        var ends = new List<Lsn>();
        for (ulong next = 1; next <= 40 || _log.Writer.Durable < _log.Writer.Tail;)
        {
            if (next <= 40 && random.Chance(40))
            {
                if (!_runs.TryTake(channel.LinkRun(next, next))) { _log.CommitStep(); continue; }
                ends.Add(_log.Writer.Tail);
                next++;
            }
            else _log.CommitStep();
            Lsn durable = _log.Writer.Durable;
            Assert.Equal((ulong)ends.Count(end => end <= durable), _dedup.DurableOf(_origin).Number);
        }
        Assert.Equal((40ul, channel.Positions[40].Hash), (_dedup.DurableOf(_origin).Number, _dedup.DurableOf(_origin).Hash));
    }

    public void Dispose() => _log.Dispose();
}
