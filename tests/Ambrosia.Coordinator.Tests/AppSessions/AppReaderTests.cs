using Ambrosia.Coordinator.AppSessions;
using Ambrosia.Coordinator.Outboxes;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Hashing;
using Ambrosia.Protocol.Runs;
using Ambrosia.TestKit;

namespace Ambrosia.Coordinator.Tests;

public sealed class AppReaderTests
{
    /// <summary>Takes frames, or says now and then that it cannot: then the same one must come again.</summary>
    private sealed class Frames(SimulatedRandom random) : IAppFrames
    {
        public List<(FrameType Type, byte[] Payload)> Taken { get; } = [];

        public List<BlockPool.Block> Kept { get; } = [];

        public uint PayloadBytesMax { get; set; } = 8 << 20;

        public bool LogWaits { get; private set; }

        public bool IsStranger => false;

        public int Pauses { get; private set; }

        public ReadAnswer Run(BlockPool.Block block, int frameAt, in RunView run, int runBytes)
        {
            if (random.Chance(10)) return ReadAnswer.OutboxFull;
            Assert.Equal(run.Messages.ToArray(),
                RunView.Read(block.Bytes.AsSpan(frameAt + FrameHeader.Bytes, runBytes)).Messages.ToArray());
            if (random.Chance(20)) { block.AddReference(); Kept.Add(block); }
            Taken.Add((FrameType.Run, block.Bytes.AsSpan(frameAt + FrameHeader.Bytes, runBytes).ToArray()));
            LogWaits = random.Chance(10);
            return ReadAnswer.More;
        }

        public ReadAnswer Control(FrameType type, ReadOnlySpan<byte> payload)
        {
            if (random.Chance(10)) return ReadAnswer.CheckpointFull;
            Taken.Add((type, payload.ToArray()));
            return ReadAnswer.More;
        }

        public void Pause(bool drained)
        {
            Pauses++;
            if (random.Chance(50)) LogWaits = false;
        }
    }

    [Fact]
    public void Received_RandomPiecesAndRefusals_HandsEveryFrameOnOnceInOrder() => Made.Seeds(60, random =>
    {
        var frames = new Frames(random);
        var pool = new BlockPool();
        var reader = new AppReader(pool, frames);
        var sent = new List<(FrameType Type, byte[] Payload)>();
        var stream = new MemoryStream();
        for (int i = 0; i < 120; i++)
        {
            bool isRun = random.Chance(70);
            int size = random.Chance(3) ? random.Next(3 << 20) : random.Chance(20) ? random.Next(50_000) : random.Next(100);
            byte[] payload = isRun ? Made.Run(MessageKind.Fork, 0, 0, [Made.Message(MessageKind.Fork, (ulong)i, size)]) : new byte[size];
            FrameType type = isRun ? FrameType.Run : FrameType.ImageChunk;
            sent.Add((type, payload));
            stream.Write(Made.Frame(type, payload));
        }
        byte[] bytes = stream.ToArray();
        for (int at = 0; at < bytes.Length;)
        {
            Memory<byte> space = reader.Space();
            Assert.True(space.Length > 0);
            int count = Math.Min(Math.Min(space.Length, bytes.Length - at), random.Chance(50) ? int.MaxValue : random.Next(1, 5000));
            bytes.AsMemory(at, count).CopyTo(space);
            at += count;
            ReadAnswer answer = reader.Received(count);
            for (int tries = 0; answer != ReadAnswer.More; tries++)
            {
                Assert.True(tries < 200);
                answer = reader.Continue();
            }
        }
        Assert.Equal(sent.Count, frames.Taken.Count);
        for (int i = 0; i < sent.Count; i++)
            Assert.True(sent[i].Type == frames.Taken[i].Type && sent[i].Payload.AsSpan().SequenceEqual(frames.Taken[i].Payload),
                $"frame {i}");
        foreach (BlockPool.Block block in frames.Kept) block.Release();
        reader.Dispose();
        Assert.Equal(0, pool.Outstanding);
        Assert.True(frames.Pauses > 0);
    });

    /// <summary>
    /// Long frames come one behind another: each is received where it fits, not moved there once it turns out to be long.
    /// </summary>
    [Fact]
    public void Space_BehindALongFrame_HasRoomForAnother()
    {
        using var reader = new AppReader(new BlockPool(), new Frames(new SimulatedRandom(1)));
        byte[] frame = Made.Frame(FrameType.ImageChunk, new byte[BlockPool.BlockBytes]);
        for (int i = 0; i < 5; i++)
        {
            for (int at = 0; at < frame.Length;)
            {
                Memory<byte> space = reader.Space();
                if (i > 0 && at == 0) Assert.InRange(space.Length, frame.Length, BlockPool.LargeBytes);
                int count = Math.Min(space.Length, frame.Length - at);
                frame.AsMemory(at, count).CopyTo(space);
                at += count;
                for (ReadAnswer answer = reader.Received(count); answer != ReadAnswer.More;) answer = reader.Continue();
            }
        }
    }

    [Theory]
    [InlineData("garbage", "P2.1")]
    [InlineData("flags", "P1.6")]
    [InlineData("type", "P2.4")]
    [InlineData("sender", "P2.4")]
    [InlineData("large", "P2.3")]
    [InlineData("checksum", "P2.5")]
    [InlineData("short run", "P3.1")]
    public void Received_Malformed_CitesTheSentence(string what, string section)
    {
        var frames = new Frames(new SimulatedRandom(1)) { PayloadBytesMax = 4096 };
        using var reader = new AppReader(new BlockPool(), frames);
        byte[] header = new byte[FrameHeader.Bytes];
        byte[] bytes = what switch
        {
            "garbage" => [.. Enumerable.Repeat((byte)7, 40)],
            "flags" => Raw(header, 0, 0x0103, 0),
            "type" => Raw(header, 0, 0x7F, 0),
            "sender" => Made.Frame(FrameType.Deliver, []),
            "large" => Raw(header, 4097, 0x10, 0),
            "checksum" => Raw(header, 0, 0x03, 1),
            _ => Made.Frame(FrameType.Run, new byte[RunHeader.Bytes - 1]),
        };
        bytes.CopyTo(reader.Space());
        Assert.Equal(section, Assert.Throws<ProtocolViolation>(() => reader.Received(bytes.Length)).Section);
        Assert.Empty(frames.Taken);
    }

    private static byte[] Raw(byte[] header, uint length, uint word, uint payloadCrc)
    {
        System.Buffers.Binary.BinaryPrimitives.WriteUInt32LittleEndian(header, length);
        System.Buffers.Binary.BinaryPrimitives.WriteUInt32LittleEndian(header.AsSpan(4), word);
        System.Buffers.Binary.BinaryPrimitives.WriteUInt32LittleEndian(header.AsSpan(8), payloadCrc);
        System.Buffers.Binary.BinaryPrimitives.WriteUInt32LittleEndian(header.AsSpan(12), Crc32C.Of(header.AsSpan(0, 12)));
        return header;
    }
}
