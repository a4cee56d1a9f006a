using System.Buffers;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Payloads;

namespace Ambrosia.Protocol.Tests;

/// <summary>What the writer refuses and cuts: mistakes of ours, so ArgumentException, never a malformed frame.</summary>
public sealed class PayloadWriterTests
{
    [Fact]
    public void PayloadWriter_ValueAboveItsLimit_Throws()
    {
        Assert.Throws<ArgumentException>(static () => new PayloadWriter(new byte[100]).String("ääää", 7));
        Assert.Throws<ArgumentException>(static () => new PayloadWriter(new byte[100]).Bytes(new byte[8], 7));
        Assert.Throws<ArgumentException>(static () => new PayloadWriter(new byte[100]).Name("a/b"));
        Assert.ThrowsAny<ArgumentException>(static () => new PayloadWriter(new byte[100]).String("\uD800", 7));
        Assert.Throws<InvalidOperationException>(static () => new PayloadWriter(new byte[7]).U64(1));
    }

    [Theory]
    [InlineData(1023, 1023)]
    [InlineData(1024, 1024)]
    [InlineData(5000, 1024)]
    public void Goodbye_LongReason_IsCutAtACharacter(int chars, int expectedBytes)
    {
        Assert.Equal(expectedBytes, WrittenWhy(new string('w', chars)).Length);
        string cut = WrittenWhy(new string('ä', chars));
        Assert.Equal(new string('ä', Math.Min(chars, 512)), cut);
    }

    [Fact]
    public void PayloadWriter_OverAGrowableBuffer_WritesTheSameAsOverASpan()
    {
        var grown = new TinySteps();
        var writer = new PayloadWriter(grown);
        var fixedBytes = new byte[1000];
        var reference = new PayloadWriter(fixedBytes);
        for (int i = 0; i < 20; i++)
        {
            WriteAll(ref writer, i);
            WriteAll(ref reference, i);
        }
        writer.Flush();
        Assert.Equal(fixedBytes[..reference.Written], grown.Bytes.ToArray());
        Assert.Equal(reference.Written, writer.Written);
    }

    private static void WriteAll(ref PayloadWriter to, int i)
    {
        to.U8((byte)i);
        to.U32((uint)i);
        to.Varint((ulong)i * 1000);
        to.String("abc", 3);
        to.Raw([1, 2, 3]);
    }

    private static string WrittenWhy(string why)
    {
        var frame = new ArrayBufferWriter<byte>();
        FrameWriter.Write(frame, new Goodbye(GoodbyeCode.AppFailed, why), 0, checkPayload: false);
        return Goodbye.Read(frame.WrittenSpan[FrameHeader.Bytes..]).Why;
    }
}
