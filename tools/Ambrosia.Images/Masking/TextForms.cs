using System.Buffers.Binary;
using System.Text;
using System.Text.Unicode;

namespace Ambrosia.Images.Masking;

/// <summary>
/// Finds masked texts in the other forms that a state can hold them in, and replaces them there: characters one by one, UTF-16 in bytes,
/// base64 and hexadecimal digits. One thread.
/// </summary>
internal sealed class TextForms(MaskedTexts texts)
{
    /// <summary>Shorter texts stand within bytes that are decoded by chance.</summary>
    private const int ByChanceUnitsMax = 2, ByChanceBytesMax = 5;

    private const int UnitBytes = sizeof(ushort), NoDigit = -1;

    /// <summary>Replaces what characters in a row hold, or are.</summary>
    /// <returns>False: they are as they were.</returns>
    internal bool Units(Span<ushort> units) => Units(units, unitsMin: 1);

    /// <summary>Returns the text of characters in a row; half a surrogate pair has the three bytes that UTF-8 does not allow.</summary>
    internal static byte[] BytesOf(ReadOnlySpan<ushort> units) => Transcode(units, new int[units.Length + 1]);

    /// <summary>Replaces what bytes hold of UTF-16, in both orders of bytes and at each place.</summary>
    internal bool Wide(Span<byte> content)
    {
        bool isReplaced = false;
        for (int shift = 0; shift < UnitBytes; shift++)
        {
            Span<byte> part = content[Math.Min(shift, content.Length)..];
            isReplaced |= Wide(part, isBig: false) | Wide(part, isBig: true);
        }
        return isReplaced;
    }

    /// <summary>Returns the text that bytes are in UTF-16; null: they are none, or are as well text of one byte a character.</summary>
    internal static byte[]? TextOfWide(ReadOnlySpan<byte> content)
    {
        if (content.Length < UnitBytes || content.Length % UnitBytes != 0 || !content.Contains((byte)0)) return null;
        ushort[] units = Read(content, isBig: content[0] == 0);
        foreach (ushort unit in units)
            if (char.IsControl((char)unit)) return null;
        byte[] text = BytesOf(units);
        return Utf8.IsValid(text) ? text : null;
    }

    /// <summary>Replaces what stands in a text, or in bytes, as base64 or hexadecimal digits.</summary>
    internal bool Encoded(Span<byte> content) =>
        !texts.IsEmpty && (Encoded(content, SixBits, group: 4, bits: 6) | Encoded(content, FourBits, group: 2, bits: 4));

    private bool Units(Span<ushort> units, int unitsMin)
    {
        if (texts.IsEmpty || units.Length < unitsMin) return false;
        int[] starts = new int[units.Length + 1];
        byte[] text = Transcode(units, starts);
        if (texts.IsKnown(text)) return Mask(units, text);
        bool isReplaced = false;
        for (int i = 0; i < units.Length; i++)
        {
            if (texts.LengthAt(text.AsSpan(starts[i])) is not (> 0 and { } length) || (i > 0 && starts[i] == starts[i - 1])) continue;
            int end = Array.BinarySearch(starts, i, starts.Length - i, starts[i] + length);
            if (end < 0 || end - i < unitsMin) continue;
            isReplaced |= Mask(units[i..end], text.AsSpan(starts[i], length));
            i = end - 1;
        }
        return isReplaced;
    }

    private bool Mask(Span<ushort> units, ReadOnlySpan<byte> text)
    {
        byte[] mask = text.Length == units.Length ? texts.MaskOf(text) : texts.LettersOf(text, units.Length);
        for (int i = 0; i < units.Length; i++) units[i] = mask[i];
        return true;
    }

    /// <param name="starts">Gets where each unit's character begins in the text, and the text's length.</param>
    private static byte[] Transcode(ReadOnlySpan<ushort> units, int[] starts)
    {
        byte[] text = new byte[units.Length * 3];
        int length = 0;
        for (int i = 0; i < units.Length; i++)
        {
            starts[i] = length;
            char first = (char)units[i];
            if (char.IsHighSurrogate(first) && i + 1 < units.Length && char.IsLowSurrogate((char)units[i + 1]))
            {
                starts[i + 1] = length;
                length += new Rune(first, (char)units[++i]).EncodeToUtf8(text.AsSpan(length));
            }
            else if (Rune.TryCreate(first, out Rune rune)) length += rune.EncodeToUtf8(text.AsSpan(length));
            else
            {
                text[length++] = (byte)(0xE0 | first >> 12);
                text[length++] = (byte)(0x80 | (first >> 6 & 0x3F));
                text[length++] = (byte)(0x80 | (first & 0x3F));
            }
        }
        starts[^1] = length;
        return text.AsSpan(0, length).ToArray();
    }

    private bool Wide(Span<byte> content, bool isBig)
    {
        ushort[] units = Read(content, isBig);
        if (!Units(units, ByChanceUnitsMax + 1)) return false;
        for (int i = 0; i < units.Length; i++)
            if (isBig) BinaryPrimitives.WriteUInt16BigEndian(content[(i * UnitBytes)..], units[i]);
            else BinaryPrimitives.WriteUInt16LittleEndian(content[(i * UnitBytes)..], units[i]);
        return true;
    }

    private static ushort[] Read(ReadOnlySpan<byte> content, bool isBig)
    {
        ushort[] units = new ushort[content.Length / UnitBytes];
        for (int i = 0; i < units.Length; i++)
            units[i] = isBig ? BinaryPrimitives.ReadUInt16BigEndian(content[(i * UnitBytes)..])
                : BinaryPrimitives.ReadUInt16LittleEndian(content[(i * UnitBytes)..]);
        return units;
    }

    /// <summary>Looks into each row of digits, from each of its places at which a group may begin.</summary>
    /// <param name="valueOf">Returns what a digit stands for, or -1.</param>
    /// <param name="group">The number of digits that make whole bytes.</param>
    private bool Encoded(Span<byte> content, Func<byte, int> valueOf, int group, int bits)
    {
        bool isReplaced = false;
        for (int start = 0, end; start < content.Length; start = end + 1)
        {
            for (end = start; end < content.Length && valueOf(content[end]) != NoDigit; end++)
            {
            }
            for (int from = start; from < start + group && (end - from) * bits / 8 >= TextIndex.BytesMin; from++)
                if (Decoded(content[from..end], valueOf, bits, isWhole: from == start))
                {
                    isReplaced = true;
                    break;
                }
        }
        return isReplaced;
    }

    private bool Decoded(Span<byte> digits, Func<byte, int> valueOf, int bits, bool isWhole)
    {
        byte[] bytes = new byte[digits.Length * bits / 8];
        for (int i = 0; i < bytes.Length * 8; i++)
            bytes[i / 8] |= (byte)((valueOf(digits[i / bits]) >> (bits - 1 - i % bits) & 1) << (7 - i % 8));
        byte[] before = [.. bytes];
        if (!(isWhole && texts.TryMaskWhole(bytes)) && !(texts.ReplaceWithin(bytes, ByChanceBytesMax + 1) | Wide(bytes))) return false;
        bool isCapital = digits.ContainsAnyInRange((byte)'A', (byte)'F'), isForUrl = digits.ContainsAny((byte)'-', (byte)'_');
        for (int digit = 0; digit < digits.Length; digit++)
        {
            int value = 0;
            bool isChanged = false;
            for (int i = digit * bits; i < (digit + 1) * bits; i++)
            {
                int at = i / 8, shift = 7 - i % 8;
                value = value << 1 | (at < bytes.Length ? bytes[at] >> shift & 1 : valueOf(digits[digit]) >> (bits - 1 - i % bits) & 1);
                isChanged |= at < bytes.Length && bytes[at] != before[at];
            }
            if (!isChanged) continue;
            digits[digit] = bits == 4 ? (byte)(isCapital ? "0123456789ABCDEF" : "0123456789abcdef")[value] : SixBitDigit(value, isForUrl);
        }
        return true;
    }

    private static int FourBits(byte digit) => digit switch
    {
        >= (byte)'0' and <= (byte)'9' => digit - '0',
        >= (byte)'a' and <= (byte)'f' => digit - 'a' + 10,
        >= (byte)'A' and <= (byte)'F' => digit - 'A' + 10,
        _ => NoDigit,
    };

    private static int SixBits(byte digit) => digit switch
    {
        >= (byte)'A' and <= (byte)'Z' => digit - 'A',
        >= (byte)'a' and <= (byte)'z' => digit - 'a' + 26,
        >= (byte)'0' and <= (byte)'9' => digit - '0' + 52,
        (byte)'+' or (byte)'-' => 62,
        (byte)'/' or (byte)'_' => 63,
        _ => NoDigit,
    };

    private static byte SixBitDigit(int value, bool isForUrl) => value switch
    {
        < 26 => (byte)('A' + value),
        < 52 => (byte)('a' + value - 26),
        < 62 => (byte)('0' + value - 52),
        62 => (byte)(isForUrl ? '-' : '+'),
        _ => (byte)(isForUrl ? '_' : '/'),
    };
}
