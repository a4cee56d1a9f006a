using System.Buffers.Binary;
using System.Numerics;
using System.Runtime.CompilerServices;

namespace Ambrosia.Protocol.Payloads;

/// <summary>Encodes and decodes unsigned LEB128 numbers of up to 64 bits in their shortest form (protocol P1.2).</summary>
public static class Varint
{
    public const int BytesMax = 10;

    public static int SizeOf(ulong value) => (70 - BitOperations.LeadingZeroCount(value | 1)) / 7;

    /// <summary>
    /// Writes the shortest form at the start of <paramref name="to"/>, where the caller has made room, and returns its size in bytes.
    /// </summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static int Write(Span<byte> to, ulong value)
    {
        if (value < 0x80) { to[0] = (byte)value; return 1; }
        return WriteLong(to, value);
    }

    private static int WriteLong(Span<byte> to, ulong value)
    {
        int i = 0;
        while (value >= 0x80) { to[i++] = (byte)(value | 0x80); value >>= 7; }
        to[i] = (byte)value;
        return i + 1;
    }

    /// <summary>
    /// Reads a number at the start of <paramref name="from"/>. When the status is Ok, <paramref name="size"/> is the size in bytes of its
    /// encoding.
    /// </summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static DecodeStatus TryRead(ReadOnlySpan<byte> from, out ulong value, out int size)
    {
        if (from.Length > 0 && from[0] < 0x80) { value = from[0]; size = 1; return DecodeStatus.Ok; }
        return TryReadLong(from, out value, out size);
    }

    private static DecodeStatus TryReadLong(ReadOnlySpan<byte> from, out ulong value, out int size)
    {
        const ulong Continues = 0x8080_8080_8080_8080;
        if (from.Length >= 8)
        {
            ulong word = BinaryPrimitives.ReadUInt64LittleEndian(from);
            ulong stops = ~word & Continues;
            if (stops != 0) return Unpack(word, BitOperations.TrailingZeroCount(stops) + 1, out value, out size);
        }
        return TryReadSlow(from, out value, out size);
    }

    /// <summary>
    /// Joins the seven-bit groups in the low <paramref name="bits"/> (8 to 64) of the word: first neighbours, then pairs, then fours.
    /// </summary>
    private static DecodeStatus Unpack(ulong word, int bits, out ulong value, out int size)
    {
        size = 0;
        value = 0;
        word &= ulong.MaxValue >> (64 - bits);
        if (bits > 8 && word >> (bits - 8) == 0) return DecodeStatus.Malformed; // a longer form than needed
        word &= 0x7F7F_7F7F_7F7F_7F7F;
        word = (word & 0x007F_007F_007F_007F) | ((word & 0x7F00_7F00_7F00_7F00) >> 1);
        word = (word & 0x0000_3FFF_0000_3FFF) | ((word & 0x3FFF_0000_3FFF_0000) >> 2);
        value = (word & 0x0FFF_FFFF) | ((word & 0x0FFF_FFFF_0000_0000) >> 4);
        size = bits >> 3;
        return DecodeStatus.Ok;
    }

    /// <summary>Reads numbers of nine and ten bytes, and numbers that are among the last eight bytes of a buffer.</summary>
    private static DecodeStatus TryReadSlow(ReadOnlySpan<byte> from, out ulong value, out int size)
    {
        value = 0;
        size = 0;
        ulong sum = 0;
        for (int i = 0; i < BytesMax; i++)
        {
            if (i == from.Length) return DecodeStatus.NeedMore;
            byte b = from[i];
            if (i == BytesMax - 1 && b > 1) return DecodeStatus.Malformed;
            sum |= (ulong)(b & 0x7F) << (7 * i);
            if (b >= 0x80) continue;
            if (b == 0 && i > 0) return DecodeStatus.Malformed; // a longer form than needed
            value = sum;
            size = i + 1;
            return DecodeStatus.Ok;
        }
        return DecodeStatus.Malformed;
    }
}

/// <summary>Says how far the front of a buffer that may still grow could be decoded.</summary>
public enum DecodeStatus
{
    Ok,

    /// <summary>The bytes end before the item does; nothing was consumed.</summary>
    NeedMore,
    Malformed,
}
