using System.Numerics;

namespace Ambrosia.Images.Masking;

/// <summary>
/// Says which number, float or date stands for another one. It is encoded in as many bytes, wherever the value stands and however wide its
/// place is; it has the same sign and about the same size, so that what fitted still fits. One thread.
/// </summary>
internal sealed class MaskedNumbers(NumberShuffle shuffle)
{
    /// <summary>
    /// The first numbers of the ranges within which a number stays: as many bytes of CBOR, as many bytes, and within the signed type of
    /// each width.
    /// </summary>
    private static readonly ulong[] s_starts =
        [0, 24, 1UL << 7, 1UL << 8, 1UL << 15, 1UL << 16, 1UL << 24, 1UL << 31, 1UL << 32, 1UL << 40, 1UL << 48, 1UL << 56, 1UL << 63];

    /// <summary>Numbers below this stand in the first byte of an item.</summary>
    private const int SmallEnd = 24;

    /// <summary>The bits of the days and of the ticks of about a century, within which a date stays.</summary>
    private const int CenturyDayBits = 15, CenturyTickBits = 55;

    /// <summary>The exponents of a float within which it stays, as bits of its exponent.</summary>
    private const int ExponentBits = 3;

    /// <summary>Returns what stands for a number without sign, or for the distance of a negative one from −1.</summary>
    /// <param name="high">The highest that fits its place.</param>
    internal ulong Number(ulong value, ulong high = ulong.MaxValue)
    {
        (ulong first, ulong last) = RangeOf(value);
        return value > high ? value : shuffle.Of(value, first, Math.Min(last, high));
    }

    /// <summary>Returns another place among so many.</summary>
    internal ulong Place(ulong place, ulong last) => shuffle.Of(place, 0, last);

    /// <summary>A bit by which true and false stand for each other, or for themselves.</summary>
    internal byte Flip { get; } = (byte)(shuffle.Of(0, 0, ulong.MaxValue) & 1);

    internal long Signed(long value) => value < 0 ? ~(long)Number((ulong)~value) : (long)Number((ulong)value);

    /// <summary>
    /// Returns what stands for a number of 128 bits: large ones keep about their size. One without sign whose highest bit is set counts as
    /// a negative one.
    /// </summary>
    internal Int128 Wide(Int128 value)
    {
        if (Int128.IsNegative(value)) return ~Wide(~value);
        ulong upper = (ulong)(value >> 64), lower = (ulong)value;
        return upper == 0 ? (Int128)(UInt128)Number(lower)
            : (Int128)new UInt128(
                upper < SmallEnd ? shuffle.Of(upper, 1, SmallEnd - 1) : Number(upper), shuffle.Of(lower, 0, ulong.MaxValue));
    }

    internal ulong Ticks(ulong value) => InCentury(value, CenturyTickBits, (ulong)DateTime.MaxValue.Ticks);

    internal ulong Days(ulong value) => InCentury(value, CenturyDayBits, (ulong)DateOnly.MaxValue.DayNumber);

    internal ulong TimeOfDay(ulong value) => Number(value, (ulong)TimeOnly.MaxValue.Ticks);

    /// <summary>Returns a code unit; halves of surrogates stay, since they mean nothing alone.</summary>
    internal ushort Char(ushort value)
    {
        ulong masked = value;
        if (char.IsSurrogate((char)value)) return value;
        do masked = Number(masked, char.MaxValue);
        while (char.IsSurrogate((char)masked));
        return (ushort)masked;
    }

    /// <summary>
    /// Masks the digits of a decimal as it stands in a message: its low, middle and high word. Words above the highest that is not 0 stay,
    /// and so do sign and scale; the highest stays one that is not 0.
    /// </summary>
    internal void Decimal(Span<int> words)
    {
        int top = words[2] != 0 ? 2 : words[1] != 0 ? 1 : 0;
        for (int i = 0; i <= top; i++)
            words[i] = i == top && top > 0 && words[i] is > 0 and < SmallEnd ? (int)shuffle.Of((ulong)words[i], 1, SmallEnd - 1)
                : (int)Signed(words[i]);
    }

    /// <summary>Returns the bits of a float of 64 bits, of the same shortest width; zeros, infinities and NaNs stay.</summary>
    internal ulong Float(ulong bits)
    {
        double value = BitConverter.UInt64BitsToDouble(bits);
        if (value == 0 || !double.IsFinite(value)) return bits;
        ulong sign = bits & (1UL << 63);
        double size = Math.Abs(value);
        if ((double)(Half)size == size)
            return sign | BitConverter.DoubleToUInt64Bits((double)BitConverter.UInt16BitsToHalf(
                (ushort)WithinExponents(BitConverter.HalfToUInt16Bits((Half)size), 10, 0x7BFF)));
        if ((double)(float)size == size)
            return sign | BitConverter.DoubleToUInt64Bits(Single(BitConverter.SingleToUInt32Bits((float)size)));
        ulong masked = bits & ~sign;
        do masked = WithinExponents(masked, 52, 0x7FEF_FFFF_FFFF_FFFF);
        while (BitConverter.UInt64BitsToDouble(masked) is var wide && (double)(float)wide == wide);
        return sign | masked;
    }

    private float Single(uint bits)
    {
        do bits = (uint)WithinExponents(bits, 23, 0x7F7F_FFFF);
        while (BitConverter.UInt32BitsToSingle(bits) is var narrow && (float)(Half)narrow == narrow);
        return BitConverter.UInt32BitsToSingle(bits);
    }

    /// <summary>Returns a positive float with its bits shuffled within a few exponents, and within as many bytes.</summary>
    private ulong WithinExponents(ulong bits, int mantissaBits, ulong highest)
    {
        (ulong first, ulong last) = RangeOf(bits);
        int block = mantissaBits + ExponentBits;
        ulong start = bits >> block << block;
        first = Math.Max(1, Math.Max(first, start));
        last = Math.Min(highest, Math.Min(last, start + ((1UL << block) - 1)));
        return shuffle.Of(bits, first, last);
    }

    private ulong InCentury(ulong value, int bits, ulong highest)
    {
        if (value > highest) return value;
        ulong start = value >> bits << bits;
        if (start == 0) return Number(value, Math.Min(highest, (1UL << bits) - 1));
        return shuffle.Of(value, start, Math.Min(highest, start + ((1UL << bits) - 1)));
    }

    private static (ulong First, ulong Last) RangeOf(ulong value)
    {
        int i = s_starts.Length - 1;
        while (s_starts[i] > value) i--;
        return (s_starts[i], i + 1 < s_starts.Length ? s_starts[i + 1] - 1 : ulong.MaxValue);
    }
}
