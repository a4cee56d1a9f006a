using System.Buffers;
using Ambrosia.Outbound;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Payloads;
using Ambrosia.Protocol.Runs;

namespace Ambrosia.Binding.Tests;

public sealed class OutboundBufferTests
{
    private readonly OutboundBuffer _buffer = new();
    private readonly Destination _one = new(0, new InstanceId("one")), _two = new(1, new InstanceId("two"));

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    [InlineData(4)]
    [InlineData(5)]
    public void Buffer_RandomMessages_ComeOutWholeAndInOrder(int seed)
    {
        var random = new Random(seed);
        var sent = new List<(uint Index, MessageKind Kind, byte[] Body)>();
        var got = new List<(uint Index, MessageKind Kind, byte[] Body)>();
        for (int i = 0; i < 3000; i++)
        {
            Destination to = random.Next(20) == 0 ? _two : _one;
            MessageKind kind = random.Next(10) == 0 ? MessageKind.Call : MessageKind.Fork;
            byte[] arguments = new byte[Length(random)];
            random.NextBytes(arguments);
            // Some are begun and given up, as when an argument cannot be encoded.
            if (random.Next(10) == 0) Encode(to, kind, arguments, random);
            Encode(to, kind, arguments, random);
            _buffer.Commit();
            sent.Add((to.Index, kind, arguments));
            if (random.Next(50) == 0) _buffer.Write(new ProcessedFrame(new Lsn((ulong)i)));
            if (random.Next(100) == 0) Take(got);
        }
        _buffer.Flush();
        Take(got);

        Assert.Equal(sent.Count, got.Count);
        for (int i = 0; i < sent.Count; i++)
        {
            Assert.Equal((sent[i].Index, sent[i].Kind), (got[i].Index, got[i].Kind));
            Assert.True(sent[i].Body.AsSpan().SequenceEqual(got[i].Body), $"message {i} of seed {seed}");
        }
        Assert.Equal(0, _buffer.Backlog);
    }

    /// <summary>One who speaks to many closes every run before it is long: its output is told of, and so bounded, like any other.</summary>
    [Theory]
    [InlineData(1)]
    [InlineData(100)]
    public void Runs_ToDestinationsInTurn_AreToldOfBeforeMuchWaits(int turn)
    {
        const int told = 64 * 1024, runMax = 4096;
        var got = new List<(uint Index, MessageKind Kind, byte[] Body)>();
        int tellings = 0;
        _buffer.Closed = backlog =>
        {
            tellings++;
            Assert.InRange(backlog, told, told + runMax);
            Take(got);
        };
        for (int i = 0; i < 20_000; i++)
        {
            _buffer.Append(i / turn % 2 == 0 ? _one : _two, MessageKind.Fork, 7, new byte[16]);
            Assert.InRange(_buffer.Backlog, 0, told + runMax);
        }
        Assert.InRange(tellings, 4, 40);
    }

    /// <summary>Messages longer than a chunk need one of their own each, which serves the next ones.</summary>
    [Fact]
    public void Messages_LongerThanAChunkInARow_AllocateNoMore()
    {
        byte[] message = new byte[300_000];
        for (int i = 0; i < 5; i++) SendAndTake();
        long before = GC.GetAllocatedBytesForCurrentThread();
        for (int i = 0; i < 50; i++) SendAndTake();
        Assert.InRange(GC.GetAllocatedBytesForCurrentThread() - before, 0, message.Length);

        void SendAndTake()
        {
            _buffer.Append(_one, MessageKind.Fork, 7, message);
            _buffer.Flush();
            while (_buffer.TryTake(out ReadOnlyMemory<byte> bytes)) _buffer.Taken(bytes.Length);
        }
    }

    [Fact]
    public void Message_OverTheLimit_IsRefusedAndNothingOfItSent()
    {
        _buffer.LimitMessages(1000);
        _buffer.Begin(_one, MessageKind.Fork);
        _buffer.Write(new byte[1001]);
        Assert.Throws<OverLimitException>(_buffer.Commit);
        _buffer.Begin(_one, MessageKind.Fork);
        Assert.Throws<OverLimitException>(() => _buffer.Write(new byte[10_000_000]));

        _buffer.Begin(_one, MessageKind.Fork);
        _buffer.WriteVarint(7);
        _buffer.Commit();
        _buffer.Flush();
        var got = new List<(uint, MessageKind, byte[])>();
        Take(got);
        Assert.Single(got);
    }

    [Fact]
    public void Failure_WithItsStack_HasARunOfItsOwn()
    {
        foreach (int stackBytes in new[] { 10, 300_000 })
        {
            _buffer.Begin(_one, MessageKind.Fork);
            _buffer.WriteVarint(1);
            _buffer.Commit();
            var block = new ArrayBufferWriter<byte>();
            var writer = new PayloadWriter(block);
            writer.Varint(99);
            writer.Varint(1);
            writer.Bytes(new byte[stackBytes], int.MaxValue);
            writer.Flush();
            _buffer.BeginAlone(_one, MessageKind.Failure, block.WrittenSpan);
            _buffer.WriteVarint(1);
            _buffer.WriteVarint(5);
            _buffer.Write(new byte[200]);
            _buffer.CommitAlone();

            var runs = new List<(MessageKind, int)>();
            foreach (byte[] payload in Frames())
            {
                RunView run = RunView.ReadWhole(payload, 1_000_000);
                runs.Add((run.Header.Kind, run.Extensions.Length));
            }
            Assert.Equal(
                [(MessageKind.Fork, RunCause.BlockBytes), (MessageKind.Failure, RunCause.BlockBytes + block.WrittenCount)], runs);
        }
    }

    [Fact]
    public void Runs_AreCut_SoThatNoneIsOverTheLimitOfManyMessages()
    {
        for (int i = 0; i < 20; i++)
        {
            Encode(_one, MessageKind.Fork, new byte[60_000], new Random(i));
            _buffer.Commit();
            Encode(_one, MessageKind.Fork, new byte[240_000], new Random(i));
            _buffer.Commit();
        }
        _buffer.Flush();

        // ReadWhole checks P3.5.
        Assert.Equal(40, Frames().Sum(payload => (int)RunView.ReadWhole(payload, 1_000_000).Header.Count));
    }

    [Fact]
    public void Message_AtEveryDistanceFromTheChunksEnd_ComesOutWhole()
    {
        const uint method = 0xFEDCBA98;
        for (int distance = 1; distance < 120; distance++)
        {
            foreach (bool inOneStep in new[] { false, true })
            {
                var atEnd = new OutboundBuffer();
                int filler = (SizeLimits.BatchBytesMax / 4) - FrameHeader.Bytes - RunHeader.Bytes - RunCause.BlockBytes - 4;
                for (int i = 0; i < 3; i++) atEnd.Append(_one, MessageKind.Fork, 1, new byte[filler]);
                atEnd.Append(_two, MessageKind.Fork, 1, new byte[filler - distance]);
                if (inOneStep)
                {
                    atEnd.Append(_two, MessageKind.Fork, method, [1, 2, 3]);
                }
                else
                {
                    atEnd.Begin(_two, MessageKind.Fork);
                    atEnd.WriteVarint(method);
                    atEnd.Write(new byte[] { 1, 2, 3 });
                    atEnd.Commit();
                }
                atEnd.Flush();

                var last = new MessageReader(RunView.ReadWhole(Frames(atEnd)[^1], 1_000_000));
                uint found = 0;
                while (last.Next()) found = last.Arguments.SequenceEqual(new byte[] { 1, 2, 3 }) ? last.Method : 0;
                Assert.Equal(method, found);
            }
        }
    }

    private static int Length(Random random) => random.Next(100) switch
    {
        < 60 => random.Next(20),
        < 80 => random.Next(110, 140),
        < 95 => random.Next(5000),
        < 99 => random.Next(16_000, 17_000),
        _ => random.Next(700_000),
    };

    private void Encode(Destination to, MessageKind kind, byte[] arguments, Random random)
    {
        _buffer.Begin(to, kind, random.Next(3) == 0 ? arguments.Length + 2 : 0);
        _buffer.WriteVarint(3);
        if (kind == MessageKind.Call) _buffer.WriteVarint(9);
        for (int at = 0; at < arguments.Length;)
        {
            int piece = Math.Min(arguments.Length - at, random.Next(1, 50_000));
            _buffer.Write(arguments.AsSpan(at, piece));
            at += piece;
        }
    }

    private void Take(List<(uint, MessageKind, byte[])> into)
    {
        foreach (byte[] payload in Frames())
        {
            RunView run = RunView.ReadWhole(payload, SizeLimits.MessageBytesMaxDefault);
            var messages = new MessageReader(run);
            while (messages.Next()) into.Add((run.Header.Peer, run.Header.Kind, messages.Arguments.ToArray()));
        }
    }

    /// <summary>Payloads of the runs that are ready.</summary>
    private List<byte[]> Frames() => Frames(_buffer);

    private static List<byte[]> Frames(OutboundBuffer buffer)
    {
        var payloads = new List<byte[]>();
        while (buffer.TryTake(out ReadOnlyMemory<byte> bytes))
        {
            ReadOnlySpan<byte> left = bytes.Span;
            while (!left.IsEmpty)
            {
                Assert.Equal(DecodeStatus.Ok,
                    FrameReader.TryRead(left, 0, uint.MaxValue / 2, false, out FrameHeader header,
                        out ReadOnlySpan<byte> payload, out int size));
                if (header.Type == FrameType.Run) payloads.Add(payload.ToArray());
                left = left[size..];
            }
            buffer.Taken(bytes.Length);
        }
        return payloads;
    }
}
