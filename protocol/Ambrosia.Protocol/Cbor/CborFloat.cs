namespace Ambrosia.Protocol.Cbor;

/// <summary>
/// Converts between float widths on their bits. A narrower form is used only if widening it gives back the same bits, so NaN payloads
/// and signs survive a checkpoint; the processor's own conversions would quieten signalling NaNs.
/// </summary>
internal static class CborFloat
{
    private const uint SingleExponent = 0x7F80_0000;
    private const ulong DoubleExponent = 0x7FF0_0000_0000_0000;

    /// <summary>Returns true when a single holds the double exactly.</summary>
    public static bool TryNarrow(ulong value, out uint narrow)
    {
        bool isNumber = (value & DoubleExponent) != DoubleExponent;
        narrow = isNumber
            ? BitConverter.SingleToUInt32Bits((float)BitConverter.UInt64BitsToDouble(value))
            : (uint)(value >> 32) & 0x8000_0000 | SingleExponent | (uint)(value >> 29) & 0x007F_FFFF;
        return Widen(narrow) == value;
    }

    /// <summary>Returns true when a half holds the single exactly.</summary>
    public static bool TryNarrow(uint value, out ushort narrow)
    {
        bool isNumber = (value & SingleExponent) != SingleExponent;
        narrow = isNumber
            ? BitConverter.HalfToUInt16Bits((Half)BitConverter.UInt32BitsToSingle(value))
            : (ushort)(value >> 16 & 0x8000 | 0x7C00 | value >> 13 & 0x03FF);
        return Widen(narrow) == value;
    }

    public static ulong Widen(uint value) => (value & SingleExponent) != SingleExponent
        ? BitConverter.DoubleToUInt64Bits(BitConverter.UInt32BitsToSingle(value))
        : (ulong)(value & 0x8000_0000) << 32 | DoubleExponent | (ulong)(value & 0x007F_FFFF) << 29;

    public static uint Widen(ushort value) => (value & 0x7C00) != 0x7C00
        ? BitConverter.SingleToUInt32Bits((float)BitConverter.UInt16BitsToHalf(value))
        : (uint)(value & 0x8000) << 16 | SingleExponent | (uint)(value & 0x03FF) << 13;
}
