using System.Buffers;
using Ambrosia.Checkpoints;
using Ambrosia.Outbound;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Hashing;
using Ambrosia.Protocol.Payloads;
using Ambrosia.TestKit;

namespace Ambrosia.Binding.Tests.Images;

/// <summary>Images are written and read in pieces, so that none is too long.</summary>
public sealed class LongImageTests
{
    /// <summary>
    /// A reader is begun anew after 2 GiB, between any two elements. Here it is begun anew after every few bytes.
    /// </summary>
    [Fact]
    public void Graph_WhoseReaderIsBegunAnewOften_ComesBack()
    {
        int rounds = TestScale.Rounds(200);
        for (int seed = 1; seed <= rounds; seed++)
        {
            byte[] image = Written(new RandomState(seed).Make());
            using var bytes = new LargeBuffer();
            bytes.Append(image);
            var graph = new GraphReader(static (_, _) => { }, windowBytes: 1 + seed % 40);
            graph.ReadAll(bytes, 0);

            Assert.Equal(image, Written(graph.ObjectOf(0)));
        }
    }

    /// <summary>What was written comes out in frames that a coordinator takes, between those before and behind it.</summary>
    [Fact]
    public void Image_OfPiecesOfAnySize_IsSentInOrder()
    {
        var random = new Random(3);
        var content = new ArrayBufferWriter<byte>();
        PieceBuffer front = Filled(random, content, 1), objects = Filled(random, content, 40);
        using var image = new WrittenImage(front, objects);
        Assert.Equal(content.WrittenSpan, image.ToArray());
        Assert.Equal((content.WrittenCount, ChannelHash.Append(0, content.WrittenSpan)), (image.Length, image.Hash));

        var output = new OutboundBuffer();
        output.Write(new ProcessedFrame(new Lsn(1)));
        image.Send(output);
        output.Write(new ProcessedFrame(new Lsn(2)));
        output.Flush();

        List<(FrameType Type, byte[] Payload)> frames = TakeFrames(output);
        Assert.Equal((FrameType.Processed, FrameType.Processed), (frames[0].Type, frames[^1].Type));
        frames = frames[1..^1];
        Assert.All(frames, static frame => Assert.Equal((FrameType.ImageChunk, true),
            (frame.Type, frame.Payload.Length is > 0 and <= ImageChunk.BytesMax)));
        Assert.Equal(content.WrittenSpan, frames.SelectMany(static frame => frame.Payload).ToArray());
        Assert.Equal(0, output.Backlog);
    }

    private static PieceBuffer Filled(Random random, ArrayBufferWriter<byte> content, int writes)
    {
        var pieces = new PieceBuffer();
        for (int i = 0; i < writes; i++)
        {
            byte[] bytes = new byte[random.Next(4) == 0 ? random.Next(3 << 20) : random.Next(100_000)];
            random.NextBytes(bytes);
            content.Write(bytes);
            bytes.CopyTo(pieces.GetSpan(bytes.Length));
            pieces.Advance(bytes.Length);
        }
        return pieces;
    }

    private static List<(FrameType, byte[])> TakeFrames(OutboundBuffer output)
    {
        var frames = new List<(FrameType, byte[])>();
        while (output.TryTake(out ReadOnlyMemory<byte> bytes))
        {
            for (ReadOnlySpan<byte> left = bytes.Span; left.Length > 0;)
            {
                var header = FrameHeader.Read(left, 0, ImageChunk.BytesMax);
                frames.Add((header.Type, left.Slice(FrameHeader.Bytes, (int)header.Length).ToArray()));
                left = left[(FrameHeader.Bytes + (int)header.Length)..];
            }
            output.Taken(bytes.Length);
        }
        return frames;
    }

    private static byte[] Written(object root)
    {
        var graph = new GraphWriter();
        graph.IdOf(root);
        graph.WriteAll();
        var bytes = new ArrayBufferWriter<byte>();
        var to = new CborWriter(bytes);
        graph.CopyTo(ref to);
        to.Flush();
        return bytes.WrittenSpan.ToArray();
    }
}
