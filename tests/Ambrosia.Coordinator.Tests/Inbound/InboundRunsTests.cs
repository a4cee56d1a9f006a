using Ambrosia.Log;
using Ambrosia.Protocol;
using Ambrosia.TestKit;

namespace Ambrosia.Coordinator.Tests;

public sealed class InboundRunsTests : IDisposable
{
    private const uint MessageBytesMax = 1 << 20;
    private static readonly InstanceId peer = new("peer");
    private readonly OpenedLog log = new();
    private readonly InputLedger ledger = new(new InstanceId("self"));
    private readonly Origin origin;
    private readonly InboundRuns runs;

    public InboundRunsTests()
    {
        origin = ledger.Admitted(peer, Guid.NewGuid(), new Epoch(3));
        runs = new InboundRuns(log.Appender, ledger, origin, MessageBytesMax);
        log.DurableAdvanced = durable => ledger.AdvanceDurable(durable, [], out _);
    }

    [Fact]
    public void TryTake_AnyOverlap_LogsEveryMessageOnce() => Made.Seeds(100, random =>
    {
        using var own = new OpenedLog();
        var fresh = new InputLedger(new InstanceId("self"));
        Origin from = fresh.Admitted(peer, Guid.NewGuid(), new Epoch(3));
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
        var inbound = new InboundRuns(log.Appender, ledger, origin, messageBytesMax);
        byte[] message = Made.Message(MessageKind.Fork, 1, (int)messageBytesMax - 20);
        int left = (int)Frames.RunBytesMax(messageBytesMax) - RunHeader.Bytes - message.Length;
        byte[] RunOf(int extensionBytes) => Made.Run(MessageKind.Fork, 1, 1, [message], Made.Extension(extensionBytes - 5));
        Assert.Equal("P3.5", Assert.Throws<ProtocolViolation>(() => inbound.TryTake(RunOf(left + 1))).Section);
        Assert.True(inbound.TryTake(RunOf(left)));
        log.Commit();
        LoggedRecord record = Assert.Single(log.Records());
        Assert.Equal(Frames.PayloadBytesMax(messageBytesMax), (uint)(DeliverHeader.Bytes + record.Whole.Length));
    }

    [Fact]
    public void TryTake_OverlapAtEveryMessage_CutsThereAndKeepsExtensions()
    {
        for (ulong known = 1; known <= 10; known++)
        {
            using var own = new OpenedLog();
            var fresh = new InputLedger(new InstanceId("self"));
            var inbound = new InboundRuns(own.Appender, fresh, fresh.Admitted(peer, Guid.NewGuid(), new Epoch(3)), MessageBytesMax);
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
        var state = new DeliveredState();
        state.Fold(Reader(new PeerRecord(1, peer, Guid.NewGuid(), new Epoch(3))));
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

    [Theory]
    [InlineData("gap", "P6.6")]
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
            "peer" => Made.Run(MessageKind.Fork, 1, 0, [message], peer: 1),
            "epoch" => Made.Run(MessageKind.Impulse, 1, 2, [impulse]),
            "request" => Made.Run(MessageKind.ClientRequest, 1, 3, [impulse]),
            "zero" => Made.Run(MessageKind.Fork, 0, 0, [message]),
            "count" => [.. Made.Run(MessageKind.Fork, 1, 0, [message]), .. message],
            _ => Made.Run(MessageKind.Fork, 1, 0, [Made.Message(MessageKind.Fork, 1, (int)MessageBytesMax + 1)]),
        };
        Lsn tail = log.Writer.Tail;
        Assert.Equal(section, Assert.Throws<ProtocolViolation>(() => runs.TryTake(run)).Section);
        Assert.Equal((tail, default), (log.Writer.Tail, ledger.AppendedOf(origin)));
    }

    [Fact]
    public void TryTake_ImpulsesOfANewEpoch_CountFromOneAgain()
    {
        byte[] impulse = Made.Message(MessageKind.Impulse, 1, 4);
        Assert.True(runs.TryTake(Made.Run(MessageKind.Impulse, 1, 3, [impulse, impulse])));
        Assert.True(runs.TryTake(Made.Run(MessageKind.Impulse, 2, 3, [impulse, impulse]))); // one of them again
        Assert.Equal(3ul, ledger.AppendedOf(origin).Impulses);
        ledger.Admitted(peer, origin.Uuid, new Epoch(5));
        Assert.Throws<ProtocolViolation>(() => runs.TryTake(Made.Run(MessageKind.Impulse, 4, 3, [impulse])));
        Assert.True(runs.TryTake(Made.Run(MessageKind.Impulse, 1, 5, [impulse])));
        Assert.Equal((new Epoch(5), 1ul), (ledger.AppendedOf(origin).ImpulseEpoch, ledger.AppendedOf(origin).Impulses));
    }

    [Fact]
    public void TryTake_NoRoom_ChangesNothingAndSucceedsAfterACommit()
    {
        var channel = new Channel();
        for (ulong i = 1; i <= 100; i++) channel.Add(MessageKind.Fork, Made.Message(MessageKind.Fork, i, 2000));
        ulong next = 1;
        while (runs.TryTake(channel.LinkRun(next, next))) next++;
        Assert.InRange(next, 4ul, 20ul);
        Assert.Equal((next - 1, 0ul), (ledger.AppendedOf(origin).Number, ledger.DurableOf(origin).Number));
        log.Commit();
        for (; next <= 100; next++)
            while (!runs.TryTake(channel.LinkRun(next, next))) log.Commit();
        log.Commit();
        AssertLogged(log, channel);
    }

    [Fact]
    public void TryTake_RunLargerThanAPage_IsLoggedOnce()
    {
        var channel = new Channel();
        for (ulong i = 1; i <= 3; i++) channel.Add(MessageKind.Fork, Made.Message(MessageKind.Fork, i, 30_000));
        for (ulong i = 1; i <= 3; i++)
            while (!runs.TryTake(channel.LinkRun(i, i))) log.Commit();
        log.Commit();
        AssertLogged(log, channel);
        log.Append(new CheckpointMarkRecord(log.Epoch, 0, "r0")); // at the latest with the next commit
        log.Commit();
        Assert.Equal(3ul, ledger.DurableOf(origin).Number);
    }

    [Fact]
    public void AdvanceDurable_StepByStep_AcknowledgesOnlyWhatIsDurable()
    {
        var channel = new Channel();
        for (ulong i = 1; i <= 40; i++) channel.Add(MessageKind.Fork, Made.Message(MessageKind.Fork, i, 300));
        var random = new SimulatedRandom(1);
        var ends = new List<Lsn>();
        for (ulong next = 1; next <= 40 || log.Writer.Durable < log.Writer.Tail;)
        {
            if (next <= 40 && random.Chance(40))
            {
                if (!runs.TryTake(channel.LinkRun(next, next))) { log.CommitStep(); continue; }
                ends.Add(log.Writer.Tail);
                next++;
            }
            else log.CommitStep();
            Lsn durable = log.Writer.Durable;
            Assert.Equal((ulong)ends.Count(end => end <= durable), ledger.DurableOf(origin).Number);
        }
        Assert.Equal((40ul, channel.Positions[40].Hash), (ledger.DurableOf(origin).Number, ledger.DurableOf(origin).Hash));
    }

    public void Dispose() => log.Dispose();
}
