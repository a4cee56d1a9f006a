using Ambrosia.Protocol.Hashing;
using Ambrosia.Protocol.Runs;

namespace Ambrosia.Protocol.Tests;

/// <summary>The channel hash's two implementations against each other and against the definition, bit by bit.</summary>
public sealed class ChannelHashTests
{
    private static readonly byte[] s_bytes = RandomBytes(5000, seed: 64);

    [Fact]
    public void ChannelHash_OfCheckString_IsThePublishedValue()
    {
        Assert.Equal(0xAE8B14860A799888, ChannelHash.Append(0, "123456789"u8));
        Assert.Equal(0xAE8B14860A799888, ChannelHashTables.Append(0, "123456789"u8));
    }

    [Fact]
    public void ChannelHash_OfNothing_IsWhatItWas()
    {
        Assert.Equal(0ul, ChannelHash.Append(0, []));
        Assert.Equal(0x1234ul, ChannelHash.Append(0x1234, []));
    }

    [Fact]
    public void ChannelHash_EveryLength_FoldingEqualsTablesEqualsDefinition()
    {
        // Every length across the thresholds of folding (16, 64, 128), at odd addresses too.
        for (int length = 0; length < 700; length++)
        {
            ReadOnlySpan<byte> bytes = s_bytes.AsSpan(length % 17, length);
            ulong seed = (ulong)length * 0x9E3779B97F4A7C15;
            ulong expected = ByDefinition(seed, bytes);
            Assert.Equal(expected, ChannelHashTables.Append(seed, bytes));
            Assert.Equal(expected, ChannelHash.Append(seed, bytes));
        }
    }

    /// <summary>Around the lengths from which sixteen lanes are folded, and around their steps, at every alignment.</summary>
    [Fact]
    public void ChannelHash_LengthsAroundTheLanes_FoldingEqualsTables()
    {
        for (int length = 1_000; length <= 2_600; length++)
        {
            ReadOnlySpan<byte> bytes = s_bytes.AsSpan(length % 61, length);
            ulong seed = (ulong)length * 0x9E3779B97F4A7C15;
            Assert.Equal(ChannelHashTables.Append(seed, bytes), ChannelHash.Append(seed, bytes));
        }
    }

    [Fact]
    public void ChannelHash_CombinedAtEveryCut_IsThatOfTheWhole()
    {
        ulong whole = ChannelHash.Append(0, s_bytes);
        for (int cut = 0; cut <= s_bytes.Length; cut++)
        {
            ulong first = ChannelHash.Append(0, s_bytes.AsSpan(0, cut)), second = ChannelHash.Append(0, s_bytes.AsSpan(cut));
            Assert.Equal(whole, ChannelHash.Combine(first, second, (ulong)(s_bytes.Length - cut)));
        }
    }

    /// <summary>Lengths that no memory holds: a gigabyte of zeros behind, doubled step by step.</summary>
    [Fact]
    public void ChannelHash_CombinedWithGigabytes_IsThatOfTheWhole()
    {
        byte[] zeros = new byte[1 << 20];
        ulong half = ChannelHash.Append(0, zeros), direct = ChannelHash.Append(0x1234, zeros);
        ulong length = (ulong)zeros.Length, byHalves = ChannelHash.Combine(0x1234, half, length);
        Assert.Equal(direct, byHalves);
        for (; length < 1ul << 33; length *= 2)
        {
            byHalves = ChannelHash.Combine(byHalves, half, length);
            half = ChannelHash.Combine(half, half, length);
            Assert.Equal(ChannelHash.Combine(0x1234, half, 2 * length), byHalves);
        }
    }

    [Fact]
    public void ChannelHash_InPieces_IsThatOfTheWhole()
    {
        ulong whole = ChannelHash.Append(0, s_bytes);
        for (int cut = 0; cut <= s_bytes.Length; cut += 7)
            Assert.Equal(whole, ChannelHash.Append(ChannelHash.Append(0, s_bytes.AsSpan(0, cut)), s_bytes.AsSpan(cut)));
    }

    [Fact]
    public void ChannelHash_OfATurnedBit_Differs()
    {
        byte[] bytes = s_bytes.AsSpan(0, 300).ToArray();
        ulong hash = ChannelHash.Append(0, bytes);
        for (int bit = 0; bit < bytes.Length * 8; bit++)
        {
            bytes[bit / 8] ^= (byte)(1 << (bit % 8));
            Assert.NotEqual(hash, ChannelHash.Append(0, bytes));
            bytes[bit / 8] ^= (byte)(1 << (bit % 8));
        }
    }

    [Fact]
    public void ChannelHasher_RunsCutAnywhere_ComeToTheSame()
    {
        var whole = new ChannelHasher();
        whole.Append(MessageKind.Fork, s_bytes.AsSpan(0, 1000));
        whole.Append(MessageKind.Result, s_bytes.AsSpan(1000, 1000));

        var pieces = new ChannelHasher();
        for (int at = 0; at < 2000; at += 50) pieces.Append(at < 1000 ? MessageKind.Fork : MessageKind.Result, s_bytes.AsSpan(at, 50));
        pieces.Append(MessageKind.Call, []);
        Assert.Equal(whole, pieces);

        var otherKinds = new ChannelHasher();
        otherKinds.Append(MessageKind.Fork, s_bytes.AsSpan(0, 2000));
        Assert.NotEqual(whole.Hash, otherKinds.Hash);
    }

    /// <summary>Around the lengths at which long inputs are read in three lanes, once and several times, at every alignment.</summary>
    [Fact]
    public void Crc32C_LengthsAroundTheLanes_EqualDefinition()
    {
        byte[] bytes = new byte[20_000];
        new Random(4).NextBytes(bytes);
        foreach (int length in new[] { 3_064, 3_071, 3_072, 3_073, 3_080, 6_143, 6_144, 6_145, 9_216, 10_240, 19_990 })
        {
            for (int from = 0; from < 8; from++)
            {
                ReadOnlySpan<byte> part = bytes.AsSpan(from, length);
                uint expected = (uint)Reflected(0x82F63B78, uint.MaxValue, 77, part.ToArray());
                Assert.Equal(expected, Crc32C.Append(77, part));
                Assert.Equal(expected, Crc32C.Append(Crc32C.Append(77, part[..1_000]), part[1_000..]));
            }
        }
    }

    [Fact]
    public void Crc32C_EveryLength_EqualsDefinition()
    {
        Assert.Equal(0xE3069283, Crc32C.Of("123456789"u8));
        for (int length = 0; length < 300; length++)
        {
            ReadOnlySpan<byte> bytes = s_bytes.AsSpan(length % 5, length);
            Assert.Equal((uint)Reflected(0x82F63B78, uint.MaxValue, 77, bytes), Crc32C.Append(77, bytes));
        }
    }

    private static ulong ByDefinition(ulong hash, ReadOnlySpan<byte> bytes) => Reflected(0x9A6C9329AC4BC9B5, ulong.MaxValue, hash, bytes);

    private static ulong Reflected(ulong polynomial, ulong ones, ulong crc, ReadOnlySpan<byte> bytes)
    {
        ulong state = crc ^ ones;
        foreach (byte b in bytes)
        {
            state ^= b;
            for (int bit = 0; bit < 8; bit++) state = (state >> 1) ^ ((state & 1) * polynomial);
        }
        return state ^ ones;
    }

    private static byte[] RandomBytes(int count, int seed)
    {
        var bytes = new byte[count];
        new Random(seed).NextBytes(bytes);
        return bytes;
    }
}
