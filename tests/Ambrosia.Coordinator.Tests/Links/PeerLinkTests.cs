using Ambrosia.Coordinator.Links;
using Ambrosia.Coordinator.LogFeed;
using Ambrosia.Coordinator.Outboxes;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Records;
using Ambrosia.Protocol.Runs;
using Ambrosia.TestKit;
using CRA.Links;

namespace Ambrosia.Coordinator.Tests;

public sealed class PeerLinkTests : IDisposable
{
    private const uint Seed = 42;
    private readonly Side _a = new("a"), _b = new("b");

    private static List<(FrameType Type, byte[] Payload)> Taken(PeerLink link)
    {
        if (!link.TryTake(out ReadOnlyMemory<byte> bytes)) return [];
        List<(FrameType, byte[])> frames = Made.FramesOf(bytes.Span, Seed, checkPayload: true);
        link.Taken(bytes.Length);
        return frames;
    }

    private static void FeedByteByByte(PeerLink to, byte[] frame)
    {
        for (int i = 1; i < frame.Length; i++)
        {
            Assert.Equal(FeedResult.Continue, to.Feed(frame.AsSpan(0, i), drained: true, out int early));
            Assert.Equal(0, early);
        }
        Assert.Equal(FeedResult.Continue, to.Feed(frame, drained: true, out int consumed));
        Assert.Equal(frame.Length, consumed);
    }

    private static byte[] Sealed((FrameType Type, byte[] Payload) frame) => Made.Frame(frame.Type, frame.Payload, Seed, checkPayload: true);

    [Fact]
    public void Handshake_ByteByByte_SaysHelloHelloReadyAndNothingElse()
    {
        Emit(_a, _b.Id, Channel.Random(new SimulatedRandom(1), 5)); // something to send, so that too much would show
        PeerLink dialler = _a.Dial(_b.Id, Seed), acceptor = _b.Accept(Seed);
        Assert.True(dialler.HeartbeatFrame.IsEmpty && acceptor.HeartbeatFrame.IsEmpty);
        Assert.Empty(Taken(acceptor)); // it waits to be spoken to

        var hello = Assert.Single(Taken(dialler));
        Assert.Equal(FrameType.Hello, hello.Type);
        Assert.Equal(("b", _a.Log.Identity.Uuid, 1ul),
            (Hello.Read(hello.Payload).PeerName, Hello.Read(hello.Payload).Uuid, Hello.Read(hello.Payload).Nonce));
        Assert.Empty(Taken(dialler));
        FeedByteByByte(acceptor, Sealed(hello));
        Assert.Empty(Taken(acceptor)); // the record is appended, not durable
        _b.Log.Commit();
        var answer = Assert.Single(Taken(acceptor));
        Assert.Equal((FrameType.Hello, 1ul), (answer.Type, Hello.Read(answer.Payload).Nonce));
        Assert.Empty(Taken(acceptor));
        FeedByteByByte(dialler, Sealed(answer));
        Assert.Empty(Taken(dialler));
        Assert.False(dialler.IsOpen);
        _a.Log.Commit();
        var ready = Assert.Single(Taken(dialler));
        Assert.Equal((FrameType.Ready, 0), (ready.Type, ready.Payload.Length));
        Assert.Equal((true, false), (dialler.IsOpen, acceptor.IsOpen));
        FeedByteByByte(acceptor, Sealed(ready));
        Assert.True(acceptor.IsOpen && !acceptor.HeartbeatFrame.IsEmpty);
    }

    [Fact]
    public void Hello_NewEpoch_IsAnsweredOnlyWhenItsRecordIsDurable()
    {
        PeerLink dialler = _a.Dial(_b.Id, Seed), acceptor = _b.Accept(Seed);
        FeedByteByByte(acceptor, Sealed(Assert.Single(Taken(dialler))));
        int steps = 0;
        while (true)
        {
            List<(FrameType Type, byte[])> answer = Taken(acceptor);
            bool durable = _b.Log.Records().Exists(static r => r.Kind == RecordKind.Peer);
            Assert.Equal(durable, answer.Count == 1);
            if (durable) break;
            _b.Log.CommitStep();
            steps++;
        }
        Assert.True(steps >= 4, "write, flush, fence check and completion lie between");
        PeerRecord logged = PeerRecord.Read(_b.Log.Records().Single(static r => r.Kind == RecordKind.Peer).Body);
        Assert.Equal((1u, _a.Id, _a.Log.Identity.Uuid, _a.Log.Epoch), (logged.Origin, logged.Peer, logged.Uuid, logged.Epoch));
    }

    [Theory]
    [InlineData(FrameType.Run)]
    [InlineData(FrameType.Ack)]
    [InlineData(FrameType.Ready)]
    public void Feed_BeforeTheHello_IsMalformed(FrameType type)
    {
        byte[] payload = type switch
        {
            FrameType.Run => Made.Run(MessageKind.Fork, 1, 0, [Made.Message(MessageKind.Fork, 1, 3)]),
            FrameType.Ack => new byte[24],
            _ => [],
        };
        Assert.Throws<ProtocolViolation>(() => _b.Accept(Seed).Feed(Made.Frame(type, payload, Seed, checkPayload: true), true, out _));
    }

    [Fact]
    public void Feed_LargeFrameBeforeTheHello_IsMalformedByItsHeader()
    {
        byte[] frame = Made.Frame(FrameType.Hello, new byte[4097], Seed, checkPayload: true);
        Assert.Equal("P2.3",
            Assert.Throws<ProtocolViolation>(() => _b.Accept(Seed).Feed(frame.AsSpan(0, FrameHeader.Bytes), true, out _)).Section);
    }

    [Theory]
    [InlineData(FrameType.Heartbeat)]
    [InlineData(FrameType.Ready)]
    public void Feed_PayloadWhereNoneMayBe_IsMalformed(FrameType type)
    {
        PeerLink acceptor = Opened(dialled: false, out _);
        if (type == FrameType.Ready) { acceptor = _b.Accept(Seed); }
        Assert.Throws<ProtocolViolation>(() => acceptor.Feed(Made.Frame(type, [1], Seed, checkPayload: true), true, out _));
    }

    [Fact]
    public void Feed_FrameOfAnotherConnection_IsMalformed() =>
        Assert.Equal("P2.1",
            Assert.Throws<ProtocolViolation>(() => _b.Accept(Seed).Feed(Made.Frame(FrameType.Heartbeat, [], Seed + 1, true), true, out _))
                .Section);

    [Fact]
    public void Feed_AckOfMoreThanWasMade_IsMalformed()
    {
        PeerLink dialler = Opened(dialled: true, out _);
        Assert.Equal("P6.8",
            Assert.Throws<ProtocolViolation>(() => dialler.Feed(Made.Frame(new Ack(1, default, 0), Seed, true), true, out _)).Section);
    }

    [Fact]
    public void Feed_RunThenGoodbye_StillWakesTheCommitter()
    {
        PeerLink acceptor = Opened(dialled: false, out _);
        int wakes = _b.Wakes;
        byte[] run = Made.Frame(FrameType.Run, Made.FirstRun(MessageKind.Fork, [Made.Message(MessageKind.Fork, 1, 3)]), Seed, true);
        Assert.Equal(FeedResult.Close,
            acceptor.Feed((byte[])[.. run, .. Made.Frame(new Goodbye(GoodbyeCode.CleanStop, "stop"), Seed, true)], true, out _));
        Assert.True(_b.Wakes > wakes, "what was appended waits for a commit");

        using var other = new PeerLinkTests();
        acceptor = other.Opened(dialled: false, out _);
        wakes = other._b.Wakes;
        Assert.Throws<ProtocolViolation>(() => acceptor.Feed((byte[])[.. run, .. new byte[16]], false, out _));
        Assert.True(other._b.Wakes > wakes, "what was appended waits for a commit");
    }

    private PeerLink Opened(bool dialled, out Connection connection)
    {
        connection = new Connection(_a, _b, Seed);
        Settle(connection);
        Assert.True(connection.IsOpen);
        return dialled ? connection.Dialler : connection.Acceptor;
    }

    private static void Settle(Connection connection)
    {
        bool moved = true;
        for (int round = 0; moved && round < 500; round++)
        {
            moved = false;
            foreach (bool dialler in new[] { true, false }) moved |= connection.Send(dialler) | connection.Receive(dialler);
            foreach (Side side in new[] { connection.From, connection.To })
            {
                Lsn before = side.Log.Writer.Durable;
                side.Log.Commit();
                moved |= side.Log.Writer.Durable > before;
            }
        }
    }

    /// <summary>
    /// Every step of the conversation in turn is its last; after the next connection both have everything, once, and are told so.
    /// </summary>
    [Fact]
    public void Connection_BrokenAtEveryStep_NextOneBringsTheRestOnce()
    {
        for (int last = 0; last < 60; last++)
        {
            using Side left = new("a"), right = new("b");
            Channel there = Channel.Random(new SimulatedRandom(5), 20), back = Channel.Random(new SimulatedRandom(6), 20);
            Outbox outLeft = Emit(left, right.Id, there), outRight = Emit(right, left.Id, back);
            var first = new Connection(left, right, Seed);
            int step = 0;
            while (step < last)
            {
                int before = step;
                foreach (bool dialler in new[] { true, false })
                {
                    if (step < last && first.Send(dialler)) step++;
                    if (step < last && first.Receive(dialler, 150 + step * 13)) step++;
                }
                foreach (Side side in new[] { left, right })
                    if (step < last && side.Log.CommitStep() != CommitStep.Park) step++;
                if (step == before) break;
            }
            first.End();
            var second = new Connection(right, left, Seed + 1);
            Settle(second);
            Assert.True(second.IsOpen, $"broken after step {last}");
            Assert.Equal(there.Messages.Select(static m => m.Bytes), right.Received());
            Assert.Equal(back.Messages.Select(static m => m.Bytes), left.Received());
            foreach ((Side side, Outbox outbox) in new[] { (left, outLeft), (right, outRight) })
            {
                Assert.True(side.Trimmed() is { Origin: 1, Number: 20 },
                    $"broken after step {last}: {side.Id} was not told that all is durable");
                Assert.Equal(20ul, outbox.Known.Number);
            }
        }
    }

    /// <summary>
    /// The same for impulses: whichever step was the last, the app hears of all of them, from an acknowledgement or from the next hello.
    /// </summary>
    [Fact]
    public void Connection_BrokenAtEveryStep_ImpulsesAreToldToTheApp()
    {
        for (int last = 0; last < 40; last++)
        {
            using Side left = new("a"), right = new("peer");
            left.Bench.AppendImpulses(1, left.Log.Epoch, Made.Message(MessageKind.Impulse, 0, 5), Made.Message(MessageKind.Impulse, 0, 7));
            var first = new Connection(left, right, Seed);
            int step = 0;
            for (int before = -1; step < last && step != before;)
            {
                before = step;
                foreach (bool dialler in new[] { true, false })
                {
                    if (step < last && first.Send(dialler)) step++;
                    if (step < last && first.Receive(dialler)) step++;
                }
                foreach (Side side in new[] { left, right })
                    if (step < last && side.Log.CommitStep() != CommitStep.Park) step++;
            }
            first.End();
            var second = new Connection(right, left, Seed + 1);
            Settle(second);
            Assert.Equal(2, right.Received().Count);
            Assert.True(left.ImpulsesLogged == 2, $"broken after step {last}: the app was told {left.ImpulsesLogged} of 2");
        }
    }

    /// <summary>P6.6: a peer that has everything need not say anything behind its hello.</summary>
    [Fact]
    public void Hello_OfAPeerThatHasEverything_CountsAsAnAcknowledgement()
    {
        Channel channel = Channel.Random(new SimulatedRandom(5), 10);
        Outbox outbox = Emit(_b, _a.Id, channel);
        PeerLink acceptor = _b.Accept(Seed);
        var hello = new Hello(1, 1, _a.Log.Identity.Uuid, _a.Id, "r0", _a.Log.Epoch, 1, "b", Guid.Empty, default, 10, outbox.Known.Hash, 0,
            default, 0, 1 << 20);
        acceptor.Feed(Made.Frame(hello, Seed, true), true, out _);
        Taken(acceptor);
        _b.Log.Commit();
        Taken(acceptor);
        acceptor.Feed(Made.Frame(FrameType.Ready, [], Seed, true), true, out _);
        Assert.True(acceptor.IsOpen);
        Assert.Equal(10ul, _b.Trimmed().Number);
    }

    /// <summary>Of few calls the acknowledgement waits for the tick; of many, and of an impulse, it does not.</summary>
    [Theory]
    [InlineData(MessageKind.Fork, 100, false)]
    [InlineData(MessageKind.Fork, 300_000, true)]
    [InlineData(MessageKind.Impulse, 100, true)]
    public void DurableAdvanced_AcksOfAFewCalls_WaitForTheTick(MessageKind kind, int bytes, bool atOnce)
    {
        PeerLink acceptor = Opened(dialled: false, out Connection connection);
        while (Taken(acceptor).Count > 0) { }
        connection.AcceptorWakes = 0;
        byte[][] messages = [Made.Message(kind, 1, bytes)];
        byte[] run = kind == MessageKind.Impulse ? Made.Run(kind, 1, _a.Log.Epoch.Value, messages) : Made.FirstRun(kind, messages);
        acceptor.Feed(Made.Frame(FrameType.Run, run, Seed, true), true, out _);
        _b.Log.Commit();
        Assert.Equal(atOnce, connection.AcceptorWakes > 0);
        _b.Tick(TimeSpan.FromMilliseconds(100));
        Assert.True(connection.AcceptorWakes > 0, "nobody sends it");
        Assert.Equal([FrameType.Ack], Taken(acceptor).Select(static frame => frame.Type));
        connection.AcceptorWakes = 0;
        _b.Tick(TimeSpan.FromMilliseconds(100));
        Assert.Equal(0, connection.AcceptorWakes);
    }

    private static Outbox Emit(Side side, InstanceId to, Channel channel)
    {
        Outbox outbox = side.Bench.Set.GetOrAdd(to);
        side.Bench.AppendAll(channel.RunsFrom(0, new SimulatedRandom(1)), outbox);
        return outbox;
    }

    /// <summary>
    /// The dialler's hello was written before the last inputs became durable: what then comes again is dropped, and must be
    /// acknowledged all the same.
    /// </summary>
    [Fact]
    public void Open_AfterAHelloThatWasOvertakenByACommit_AcknowledgesWhatItDrops()
    {
        Channel channel = Channel.Random(new SimulatedRandom(5), 10);
        Emit(_b, _a.Id, channel);
        Connection first = new(_a, _b, Seed);
        while (_a.Dedup.Find(_b.Id) is not { } origin || _a.Dedup.AppendedOf(origin).Number < 10)
        {
            foreach (bool dialler in new[] { true, false }) { first.Send(dialler); first.Receive(dialler); }
            _b.Log.Commit();
            if (!first.Dialler.IsOpen) _a.Log.Commit();
        }
        first.End();
        Connection second = new(_a, _b, Seed + 1);
        Assert.True(second.Send(dialler: true)); // hello: 0 durable
        _a.Log.Commit();
        Settle(second);
        Assert.Equal(10ul, _b.Trimmed().Number);
    }

    [Fact]
    public void Hello_ThatMakesUsOld_EndsTheProcessAndSaysGoodbye()
    {
        PeerLink acceptor = _b.Accept(Seed);
        var hello = new Hello(1, 1, _a.Log.Identity.Uuid, _a.Id, "r0", _a.Log.Epoch, 1, "b", Guid.Empty, new Epoch(99), 0, 0, 0, default,
            0, 1 << 20);
        Assert.Equal(FeedResult.Close, acceptor.Feed(Made.Frame(hello, Seed, true), true, out _));
        Assert.Equal(ExitCodes.NotPrimary, _b.ExitCode);
        Assert.Equal(FrameType.Goodbye, Assert.Single(Taken(acceptor)).Type);
        Assert.Empty(_b.Log.Records());
    }

    /// <summary>Nothing is sent and nothing is taken: its log knows the peer, and the peer knows it.</summary>
    [Fact]
    public void Hello_WithOtherCallsOfOurs_EndsTheProcess()
    {
        _b.Bench.AppendAll(Channel.Random(new SimulatedRandom(1), 4).RunsFrom(0, new SimulatedRandom(2)));
        PeerLink acceptor = _b.Accept(Seed);
        _b.Dedup.Admitted(OutboxBench.Peer, _a.Log.Identity.Uuid, new Epoch(1));
        var hello = new Hello(1, 1, _a.Log.Identity.Uuid, OutboxBench.Peer, "r0", new Epoch(1), 1, "b", _b.Log.Identity.Uuid,
            new Epoch(1), 3, 77, 0, default, 0, 1 << 20);
        Assert.Equal(FeedResult.Close, acceptor.Feed(Made.Frame(hello, Seed, true), true, out _));
        Assert.Equal(ExitCodes.Divergence, _b.ExitCode);
        Assert.Equal(FrameType.Goodbye, Assert.Single(Taken(acceptor)).Type);
        Assert.Empty(_b.Log.Records());
    }

    public void Dispose()
    {
        _a.Dispose();
        _b.Dispose();
    }
}
