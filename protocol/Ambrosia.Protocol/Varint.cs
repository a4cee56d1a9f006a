using System.Numerics;
using System.Runtime.CompilerServices;

namespace Ambrosia.Protocol;

public enum DecodeStatus { Ok, NeedMore, Malformed }

/// <summary>Unsigned LEB128 of up to 64 bits in its shortest form (protocol P1.2).</summary>
public static class Varint
{
    public const int BytesMax = 10;

    public static int SizeOf(ulong value) => (70 - BitOperations.LeadingZeroCount(value | 1)) / 7;

    /// <summary>Writes the shortest form at the start of <paramref name="to"/>; the caller has made room. Returns its size in bytes.</summary>
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

    /// <summary>Reads one at the start of <paramref name="from"/>. <paramref name="size"/> is its size in bytes when Ok.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static DecodeStatus TryRead(ReadOnlySpan<byte> from, out ulong value, out int size)
    {
        if (from.Length > 0 && from[0] < 0x80) { value = from[0]; size = 1; return DecodeStatus.Ok; }
        return TryReadLong(from, out value, out size);
    }

    private static DecodeStatus TryReadLong(ReadOnlySpan<byte> from, out ulong value, out int size)
    {
        value = 0;
        size = 0;
        for (int i = 0; i < BytesMax; i++)
        {
            if (i == from.Length) return DecodeStatus.NeedMore;
            byte b = from[i];
            if (i == 9 && b > 1) return DecodeStatus.Malformed;
            value |= (ulong)(b & 0x7F) << (7 * i);
            if (b >= 0x80) continue;
            if (b == 0 && i > 0) return DecodeStatus.Malformed; // a longer form than needed
            size = i + 1;
            return DecodeStatus.Ok;
        }
        return DecodeStatus.Malformed;
    }
}
