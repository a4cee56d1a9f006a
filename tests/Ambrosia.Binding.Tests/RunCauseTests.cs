using Ambrosia.Outbound;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Payloads;
using Ambrosia.Protocol.Runs;
using static Ambrosia.Binding.Tests.FakeCoordinator;

namespace Ambrosia.Binding.Tests;

/// <summary>Each run says which records made its first and its last message (protocol P3.7).</summary>
public sealed class RunCauseTests
{
    private readonly OutboundBuffer _buffer = new();
    private readonly Destination _one = new(0, new InstanceId("one")), _two = new(1, new InstanceId("two"));

    [Fact]
    public void Run_OfSeveralRecords_SaysTheFirstAndTheLast()
    {
        Fork(at: 64);
        Fork(at: 128);
        Fork(at: 192);

        Assert.Equal([(64, 192)], Causes());
    }

    [Fact]
    public void Run_RecordsThatSendNothing_AreNotSaid()
    {
        _buffer.BeginRecord(new Lsn(64));
        Fork(at: 128);
        _buffer.BeginRecord(new Lsn(192));

        Assert.Equal([(128, 128)], Causes());
    }

    [Fact]
    public void Run_MessageThatWasGivenUp_IsNotSaid()
    {
        _buffer.BeginRecord(new Lsn(64));
        _buffer.Begin(_one, MessageKind.Fork);
        Fork(at: 128);
        _buffer.BeginRecord(new Lsn(192));
        _buffer.Begin(_one, MessageKind.Fork);

        Assert.Equal([(128, 128)], Causes());
    }

    [Fact]
    public void Run_BehindAnother_BeginsAnew()
    {
        Fork(at: 64);
        Fork(at: 128, _two);
        Fork(at: 192, _two);

        Assert.Equal([(64, 64), (128, 192)], Causes());
    }

    [Fact]
    public void Run_OfAFailure_HasTheCauseBesideItsOwnBlock()
    {
        byte[] own = [2, 1, 3, 0, 1, (byte)'s'];
        _buffer.BeginRecord(new Lsn(64));
        _buffer.BeginAlone(_one, MessageKind.Failure, own);
        _buffer.WriteVarint(7);
        _buffer.WriteVarint(1);
        _buffer.CommitAlone();

        byte[] blocks = Assert.Single(Runs(_buffer)).Extensions;
        Assert.Equal(own, blocks[RunCause.BlockBytes..]);
        Assert.Equal(new RunCause(new Lsn(64), new Lsn(64)), RunCause.In(blocks));
    }

    /// <summary>A caller outside knows no place in this log.</summary>
    [Theory]
    [InlineData(MessageKind.ClientAnswer)]
    [InlineData(MessageKind.ClientFailure)]
    public void Run_ForACallerOutside_SaysNothing(MessageKind kind)
    {
        _buffer.BeginRecord(new Lsn(64));
        _buffer.Begin(Destination.Of(new ClientSessionId(new Epoch(3), 1)), kind);
        _buffer.WriteVarint(7);
        _buffer.WriteVarint(1);
        _buffer.Commit();
        _buffer.Flush();

        Assert.Empty(Assert.Single(Runs(_buffer)).Extensions);
    }

    /// <summary>
    /// Each run is held against a list of which record sent what, with messages that need chunks of their own and runs that are cut for
    /// them.
    /// </summary>
    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    public void Run_AnyMessages_SaysWhoSentThem(int seed)
    {
        var random = new Random(seed);
        var sent = new List<ulong>();
        var got = new List<byte[]>();
        for (ulong at = 64; sent.Count < 3_000; at += 64)
        {
            _buffer.BeginRecord(new Lsn(at));
            for (int i = random.Next(4); i > 0; i--)
            {
                int bytes = random.Next(100) switch { < 80 => 8 + random.Next(40), < 99 => random.Next(8, 20_000), _ => 300_000 };
                byte[] arguments = new byte[bytes];
                BitConverter.TryWriteBytes(arguments, at);
                _buffer.Append(random.Next(9) == 0 ? _two : _one, MessageKind.Fork, 7, arguments);
                sent.Add(at);
            }
            if (random.Next(50) == 0) _buffer.Flush();
        }
        _buffer.Flush();
        int seen = 0;
        foreach ((byte[] blocks, byte[] run) in Runs(_buffer))
        {
            var by = new List<ulong>();
            var messages = new MessageReader(RunView.ReadWhole(run, 1 << 20));
            while (messages.Next()) by.Add(BitConverter.ToUInt64(messages.Arguments));
            Assert.Equal(sent.GetRange(seen, by.Count), by);
            Assert.Equal(new RunCause(new Lsn(by[0]), new Lsn(by[^1])), RunCause.In(blocks));
            seen += by.Count;
        }
        Assert.Equal(sent.Count, seen);
    }

    /// <summary>The records that answer one caller share a run; one between them that sends nothing does not show.</summary>
    [Fact]
    public void Session_RecordsThatAnswer_AreNamedByTheRun()
    {
        FakeCoordinator coordinator = Started<Bank>();
        byte[] first = Call(2, 41, "ann"), silent = FakeCoordinator.Fork(1, "ann", 5), last = Call(2, 42, "ann");
        Lsn begin = coordinator.Next;
        coordinator.Deliver(first, silent, last);

        Assert.Equal(new RunCause(begin, begin + first.Length + silent.Length), RunCause.In(coordinator.Extensions));
    }

    /// <summary>The same messages have the same hash, at whatever times the output is taken: it does not cover who made them.</summary>
    [Fact]
    public void Hash_OfRunsCutOtherwise_IsTheSame()
    {
        ulong Hash(int flushEvery)
        {
            var buffer = new OutboundBuffer();
            var hasher = new ChannelHasher();
            for (int i = 0; i < 100; i++)
            {
                buffer.BeginRecord(new Lsn((ulong)(i / 3)));
                buffer.Append(_one, MessageKind.Fork, 7, [(byte)i]);
                if (i % flushEvery == 0) buffer.Flush();
            }
            buffer.Flush();
            foreach ((_, byte[] run) in Runs(buffer)) hasher.Append(MessageKind.Fork, RunView.Read(run).Messages);
            return hasher.Hash;
        }

        Assert.Equal(Hash(1), Hash(7));
        Assert.Equal(Hash(1), Hash(1_000));
    }

    private void Fork(ulong at, Destination? to = null)
    {
        _buffer.BeginRecord(new Lsn(at));
        _buffer.Append(to ?? _one, MessageKind.Fork, 7, [1, 2, 3]);
    }

    private List<(int, int)> Causes()
    {
        _buffer.Flush();
        return [.. Runs(_buffer).Select(static run => RunCause.In(run.Extensions)!.Value)
            .Select(static cause => ((int)cause.First.Value, (int)cause.Last.Value))];
    }

    private static List<(byte[] Extensions, byte[] Run)> Runs(OutboundBuffer buffer)
    {
        var runs = new List<(byte[], byte[])>();
        while (buffer.TryTake(out ReadOnlyMemory<byte> bytes))
        {
            ReadOnlySpan<byte> left = bytes.Span;
            while (FrameReader.TryRead(left, 0, uint.MaxValue / 2, false, out FrameHeader header, out ReadOnlySpan<byte> payload,
                out int size) == DecodeStatus.Ok)
            {
                if (header.Type == FrameType.Run) runs.Add((RunView.Read(payload).Extensions.ToArray(), payload.ToArray()));
                left = left[size..];
            }
            buffer.Taken(bytes.Length);
        }
        return runs;
    }
}
