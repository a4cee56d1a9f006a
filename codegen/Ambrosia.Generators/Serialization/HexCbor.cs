using System;
using System.Text;

namespace Ambrosia.Generators.Serialization;

/// <summary>
/// Writes CBOR items in their deterministic encoding (RFC 8949 §4.2.1) as hexadecimal text. The generator runs in the compiler, where the
/// binding's own writer is not.
/// </summary>
internal sealed class HexCbor
{
    internal const byte Unsigned = 0x00, Negative = 0x20, ByteString = 0x40, TextString = 0x60, Array = 0x80, Map = 0xA0, Tag = 0xC0;

    private const byte ArgumentFollows = 24, False = 0xF4, True = 0xF5, NullItem = 0xF6, Half = 0xF9, Single = 0xFA, Double = 0xFB;
    private const int DoubleMantissaBits = 52, DoubleBias = 1023;
    private const ulong DoubleExponentMax = 0x7FF;

    private static readonly UTF8Encoding s_strictUtf8 = new(encoderShouldEmitUTF8Identifier: false, throwOnInvalidBytes: true);

    private readonly StringBuilder _text = new();

    /// <summary>Writes the head of an item: its major type and a number, in the shortest form.</summary>
    internal void Head(byte major, ulong argument)
    {
        if (argument < ArgumentFollows)
        {
            Byte((byte)(major | argument));
            return;
        }
        int size = argument <= byte.MaxValue ? 1 : argument <= ushort.MaxValue ? 2 : argument <= uint.MaxValue ? 4 : 8;
        int form = size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : 3;
        Byte((byte)(major | (ArgumentFollows + form)));
        BigEndian(argument, size);
    }

    internal void Integer(long value)
    {
        if (value >= 0) Head(Unsigned, (ulong)value);
        else Head(Negative, (ulong)~value);
    }

    internal void Boolean(bool value) => Byte(value ? True : False);

    internal void Null() => Byte(NullItem);

    /// <summary>Writes a byte string of zeros.</summary>
    internal void Bytes(int count)
    {
        Head(ByteString, (ulong)count);
        for (int i = 0; i < count; i++) Byte(0);
    }

    /// <summary>Writes an array of zeros.</summary>
    internal void ZeroItems(int count)
    {
        Head(Array, (ulong)count);
        for (int i = 0; i < count; i++) Integer(0);
    }

    /// <summary>Writes a text; returns false where it has lone surrogates, which do not travel.</summary>
    internal bool TryText(string value)
    {
        try
        {
            byte[] utf8 = s_strictUtf8.GetBytes(value);
            Head(TextString, (ulong)utf8.Length);
            foreach (byte each in utf8) Byte(each);
            return true;
        }
        catch (EncoderFallbackException)
        {
            return false;
        }
    }

    /// <summary>Writes a float in the shortest of the three widths that holds all its bits.</summary>
    internal void Float(double value)
    {
        ulong bits = (ulong)BitConverter.DoubleToInt64Bits(value);
        if (TryNarrow(bits, 5, 10) is { } half) Sized(Half, half, 2);
        else if (TryNarrow(bits, 8, 23) is { } single) Sized(Single, single, 4);
        else Sized(Double, bits, 8);
    }

    public override string ToString() => _text.ToString();

    /// <summary>
    /// Returns the bits of a narrower float that is the same number, or the same NaN; null where there is none. On bits alone, since the
    /// frameworks that a compiler runs on have no halves.
    /// </summary>
    private static ulong? TryNarrow(ulong bits, int exponentBits, int mantissaBits)
    {
        ulong sign = bits >> 63, exponent = (bits >> DoubleMantissaBits) & DoubleExponentMax;
        ulong mantissa = bits & ((1ul << DoubleMantissaBits) - 1);
        int bias = (1 << (exponentBits - 1)) - 1, power = (int)exponent - DoubleBias, drop = DoubleMantissaBits - mantissaBits;
        ulong narrowExponent = 0;
        if (exponent == DoubleExponentMax) narrowExponent = (1ul << exponentBits) - 1;
        else if (exponent == 0 && mantissa == 0) { }
        else if (exponent == 0 || power > bias) return null;
        else if (power >= 1 - bias) narrowExponent = (ulong)(power + bias);
        else
        {
            drop += 1 - bias - power; // below the smallest normal number: the leading one is written out
            mantissa |= 1ul << DoubleMantissaBits;
        }
        if (drop > DoubleMantissaBits || (mantissa & ((1ul << drop) - 1)) != 0) return null;
        return (sign << (exponentBits + mantissaBits)) | (narrowExponent << mantissaBits) | (mantissa >> drop);
    }

    private void Sized(byte first, ulong value, int size)
    {
        Byte(first);
        BigEndian(value, size);
    }

    private void BigEndian(ulong value, int size)
    {
        for (int shift = 8 * (size - 1); shift >= 0; shift -= 8) Byte((byte)(value >> shift));
    }

    private void Byte(byte value) => _text.Append(value.ToString("x2", System.Globalization.CultureInfo.InvariantCulture));
}
