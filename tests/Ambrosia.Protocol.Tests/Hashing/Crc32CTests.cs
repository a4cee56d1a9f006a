using Ambrosia.Protocol.Hashing;

namespace Ambrosia.Protocol.Tests;

/// <summary>The ways to compute CRC-32C against each other and against the definition, bit by bit.</summary>
public sealed class Crc32CTests
{
    private static readonly byte[] s_bytes = RandomBytes(9_000);

    [Fact]
    public void Of_CheckString_IsThePublishedValue()
    {
        Assert.Equal(0xE306_9283u, Crc32C.Of("123456789"u8));
        Assert.Equal(0xE306_9283u, Crc32C.AppendByInstruction(0, "123456789"u8));
    }

    [Fact]
    public void Append_EveryLengthAndAddress_AllWaysAgree()
    {
        for (int length = 0; length < 4_200; length++) // across the thresholds of lanes and of folding
        {
            ReadOnlySpan<byte> bytes = s_bytes.AsSpan(length % 67, length);
            uint seed = (uint)length * 0x9E37_79B9;
            uint expected = ByDefinition(seed, bytes);
            Assert.Equal(expected, Crc32C.Append(seed, bytes));
            Assert.Equal(expected, Crc32C.AppendByInstruction(seed, bytes));
        }
    }

    [Fact]
    public void Append_CutAnywhere_IsTheSame()
    {
        uint whole = Crc32C.Of(s_bytes);
        for (int cut = 0; cut <= s_bytes.Length; cut += 61)
            Assert.Equal(whole, Crc32C.Append(Crc32C.Of(s_bytes.AsSpan(0, cut)), s_bytes.AsSpan(cut)));
    }

    [FoldingFact]
    public void Fold_WholeSteps_EqualsTheInstruction()
    {
        for (int length = WideFolding.StepBytes; length <= s_bytes.Length; length += WideFolding.StepBytes)
            Assert.Equal(Crc32C.AppendByInstruction(7, s_bytes.AsSpan(0, length)), ~Crc32CFolding.Append(~7u, s_bytes.AsSpan(0, length)));
    }

    /// <summary>Every single bit of a long input counts.</summary>
    [Fact]
    public void Of_AnyBitFlipped_IsAnotherValue()
    {
        byte[] bytes = s_bytes[..2_311];
        uint whole = Crc32C.Of(bytes);
        for (int bit = 0; bit < 8 * bytes.Length; bit++)
        {
            bytes[bit / 8] ^= (byte)(1 << (bit % 8));
            Assert.NotEqual(whole, Crc32C.Of(bytes));
            bytes[bit / 8] ^= (byte)(1 << (bit % 8));
        }
    }

    private static uint ByDefinition(uint crc, ReadOnlySpan<byte> bytes)
    {
        uint state = ~crc;
        foreach (byte b in bytes)
        {
            state ^= b;
            for (int bit = 0; bit < 8; bit++) state = (state >> 1) ^ ((state & 1) * 0x82F6_3B78);
        }
        return ~state;
    }

    private static byte[] RandomBytes(int count)
    {
        byte[] bytes = new byte[count];
        new Random(32).NextBytes(bytes);
        return bytes;
    }

    /// <summary>A fact about processors that fold.</summary>
    private sealed class FoldingFactAttribute : FactAttribute
    {
        public FoldingFactAttribute()
        {
            if (!WideFolding.IsSupported) Skip = "this processor does not multiply wide vectors without carry";
        }
    }
}
