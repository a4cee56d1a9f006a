using System.Buffers;
using Ambrosia.Checkpoints;
using Ambrosia.Outbound;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Hashing;
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
            byte[] image = GraphBytes.Written(new RandomState(seed).Make());

            Assert.Equal(image, GraphBytes.Written(GraphBytes.Read(image, windowBytes: 1 + seed % 40)));
        }
    }

    /// <summary>
    /// What is kept in memory and what is written while it is sent comes out in frames that a coordinator takes, between those before and
    /// behind it.
    /// </summary>
    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    [InlineData(300_000)]
    [InlineData(long.MaxValue)]
    public void Image_OfPiecesOfAnySize_IsSentInOrder(long keptBytesMax)
    {
        var random = new Random(3);
        object root = Large(random);
        var content = new ArrayBufferWriter<byte>();
        using WrittenImage image = Written(random, content, root, keptBytesMax);

        var output = new OutboundBuffer();
        output.Write(new ProcessedFrame(new Lsn(1)));
        ImageEnd end = image.Send(output);
        output.Write(new ProcessedFrame(new Lsn(2)));
        output.Flush();

        Assert.Equal(new ImageEnd((ulong)content.WrittenCount, ChannelHash.Append(0, content.WrittenSpan)), end);
        List<(FrameType Type, byte[] Payload)> frames = TakeFrames(output);
        Assert.Equal((FrameType.Processed, FrameType.Processed), (frames[0].Type, frames[^1].Type));
        frames = frames[1..^1];
        Assert.All(frames, static frame => Assert.Equal((FrameType.ImageChunk, true),
            (frame.Type, frame.Payload.Length is > 0 and <= ImageChunk.BytesMax)));
        Assert.Equal(content.WrittenSpan, frames.SelectMany(static frame => frame.Payload).ToArray());
        Assert.Equal(0, output.Backlog);
    }

    [Fact]
    public void Image_ThatIsNotKept_HasTheLengthAndHashOfOneThatIs()
    {
        object root = Large(new Random(4));
        ImageEnd[] measured = [.. new[] { 0, 1_000, long.MaxValue }.Select(kept =>
        {
            using WrittenImage image = Written(new Random(5), new ArrayBufferWriter<byte>(), root, kept);
            return image.Measure();
        })];

        Assert.Equal(measured[2], measured[0]);
        Assert.Equal(measured[2], measured[1]);
    }

    /// <summary>While a large image is sent, nothing may change: a part of it is written then.</summary>
    [Fact]
    public void Image_WhoseStateChangesMeanwhile_IsGivenUp()
    {
        object[] root = (object[])Large(new Random(6));
        using WrittenImage image = Written(new Random(7), new ArrayBufferWriter<byte>(), root, keptBytesMax: 0);
        root[1] = new List<string> { "new" };

        InvalidOperationException refused = Assert.Throws<InvalidOperationException>(() => image.Measure());
        Assert.Contains("changed while the state was being written", refused.Message, StringComparison.Ordinal);
    }

    /// <summary>The memory of an image goes while the state comes, in runs of objects that are whole at once and between others.</summary>
    [Fact]
    public void Graph_WhoseBytesAreGivenBackWhileItIsRead_ComesBack()
    {
        for (int seed = 1; seed <= 4; seed++)
        {
            byte[] image = GraphBytes.Written(Large(new Random(seed)));

            Assert.Equal(image, GraphBytes.Written(GraphBytes.Read(image)));
        }
    }

    [Fact]
    public void Graph_WithBytesBehindItsEnd_IsRefused()
    {
        byte[] image = GraphBytes.Written(new List<string> { "a" });

        Assert.Throws<CborException>(() => GraphBytes.Read([.. image, 0]));
    }

    /// <summary>Texts of megabytes are written in stretches.</summary>
    [Fact]
    public void Text_LongerThanAPiece_ComesBack()
    {
        string text = string.Concat(Enumerable.Range(0, 200_000).Select(static i => i % 3 == 0 ? "é" : i % 7 == 0 ? "\U0001F600" : "a"));

        Assert.Equal([text], (List<string>)GraphBytes.Read(GraphBytes.Written(new List<string> { text })));
    }

    /// <summary>Makes objects of all sorts, several hundred kilobytes of each, in an order of chance.</summary>
    private static object Large(Random random)
    {
        var all = new object[40];
        for (int i = 0; i < all.Length; i++) all[i] = LargePart(random);
        return all;
    }

    private static object LargePart(Random random)
    {
        int count = random.Next(60_000);
        IEnumerable<int> numbers = Enumerable.Range(random.Next(9), count);
        return random.Next(7) switch
        {
            0 => new byte[count],
            1 => numbers.Select(static i => new byte[i % 300 + 1]).Take(2_000).ToArray(),
            2 => numbers.ToList(),
            3 => numbers.ToDictionary(static i => i, static i => i * 0.5),
            4 => numbers.ToDictionary(static i => $"key {i}", static i => new List<int> { i }),
            5 => numbers.Select(static i => (object)$"text {i}").ToList(),
            _ => new HashSet<(string, int)>(numbers.Select(static i => ($"text {i}", i))),
        };
    }

    private static WrittenImage Written(Random random, ArrayBufferWriter<byte> content, object root, long keptBytesMax)
    {
        PieceBuffer front = Filled(random, content, 20);
        content.Write(BodiesOf(root));
        var graph = new GraphWriter(keptBytesMax: keptBytesMax);
        graph.IdOf(root);
        graph.WriteAll();
        return new WrittenImage(front, graph);
    }

    /// <summary>Returns the objects of a graph, without the table of types and the head in front of them.</summary>
    private static byte[] BodiesOf(object root)
    {
        byte[] all = GraphBytes.Written(root);
        var from = new CborReader(all);
        from.Skip();
        from.ReadArrayHeader();
        return all[from.Position..];
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

}
