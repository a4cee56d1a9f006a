using Ambrosia.Protocol.Payloads;
using Ambrosia.Protocol.Runs;

namespace Ambrosia.Protocol.Tests;

/// <summary>What a reader makes of the blocks of a run: nothing of them is trusted, and nothing of them stops it.</summary>
public sealed class ExtensionBlockTests
{
    private static readonly RunCause s_cause = new(new Lsn(4_160), new Lsn(4_288));
    private static readonly MessageTrace[] s_traces =
        [new(300, new UInt128(1, 2), 3, 1), new(5, UInt128.MaxValue, ulong.MaxValue, 0xFF), new(0, 1, 1, 0)];

    [Fact]
    public void In_BehindOtherBlocks_FindsItsOwn()
    {
        byte[] blocks = [.. Block(2, 1, [0, 1, (byte)'s']), .. Block(99, 7, [1]), .. Cause(s_cause), .. Traces(s_traces)];

        Assert.Equal(s_cause, RunCause.In(blocks));
        Assert.Equal(s_traces, MessageTrace.In(blocks));
    }

    [Fact]
    public void In_OtherVersion_IsPassedOver()
    {
        byte[] cause = Cause(s_cause), traces = Traces(s_traces);
        cause[1] = traces[1] = 2;

        Assert.Null(RunCause.In(cause));
        Assert.Empty(MessageTrace.In(traces));
    }

    [Fact]
    public void In_NoBlocks_FindsNothing()
    {
        Assert.Null(RunCause.In([]));
        Assert.Empty(MessageTrace.In([]));
    }

    /// <summary>Each bit of a block counts: whatever is turned is refused, or is read as exactly what stands there.</summary>
    [Fact]
    public void Read_EveryBitFlipped_IsRefusedOrWrittenAgainAsItStands()
    {
        byte[] cause = Cause(s_cause)[3..], traces = ContentOf(Traces(s_traces));
        int refused = 0;
        foreach (byte[] flipped in Flips(cause))
            if (SectionOf(() => Assert.Equal(flipped, Cause(RunCause.Read(flipped))[3..])) is not null) refused++;
        Assert.InRange(refused, 1, cause.Length * 8 - 1);
        refused = 0;
        foreach (byte[] flipped in Flips(traces))
            if (SectionOf(() => Assert.Equal(flipped, ContentOf(Traces(MessageTrace.Read(flipped))))) is not null) refused++;
        Assert.InRange(refused, 1, traces.Length * 8 - 1);
    }

    /// <summary>Whoever reads a run that stands in a log gets an answer, or none; a block that is malformed ends nobody.</summary>
    [Fact]
    public void In_EveryBitFlipped_NeverThrows()
    {
        byte[] blocks = [.. Cause(s_cause), .. Traces(s_traces)];
        int lost = 0;
        foreach (byte[] flipped in Flips(blocks))
        {
            if (RunCause.In(flipped) is null) lost++;
            if (MessageTrace.In(flipped).Length == 0) lost++;
        }
        Assert.True(lost > 0, "no flip harmed a block");
    }

    [Fact]
    public void ToString_Trace_IsThatOfTraceparent() =>
        Assert.Equal("000102030405060708090a0b0c0d0e0f-00000000000000a1-01",
            new MessageTrace(0, new UInt128(0x0001020304050607, 0x08090a0b0c0d0e0f), 0xA1, 1).ToString());

    private static IEnumerable<byte[]> Flips(byte[] bytes)
    {
        for (int bit = 0; bit < bytes.Length * 8; bit++)
        {
            byte[] flipped = [.. bytes];
            flipped[bit / 8] ^= (byte)(1 << (bit % 8));
            yield return flipped;
        }
    }

    private static string? SectionOf(Action read)
    {
        try
        {
            read();
            return null;
        }
        catch (ProtocolViolation violation)
        {
            return violation.Section;
        }
    }

    private static byte[] Cause(RunCause cause)
    {
        byte[] block = new byte[RunCause.BlockBytes];
        cause.WriteBlock(block);
        return block;
    }

    private static byte[] Traces(MessageTrace[] traces)
    {
        byte[] buffer = new byte[1024];
        var writer = new PayloadWriter(buffer);
        MessageTrace.WriteBlock(ref writer, traces);
        return buffer[..writer.Written];
    }

    private static byte[] Block(byte type, byte version, byte[] content) => [type, version, (byte)content.Length, .. content];

    private static byte[] ContentOf(byte[] block)
    {
        var reader = new ExtensionReader(block);
        Assert.True(reader.Next());
        return reader.Content.ToArray();
    }
}
