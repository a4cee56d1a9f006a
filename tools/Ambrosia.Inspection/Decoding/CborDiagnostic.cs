using System.Globalization;
using System.Numerics;
using System.Text;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Texts;

namespace Ambrosia.Inspection.Decoding;

/// <summary>
/// Writes CBOR items in diagnostic notation (RFC 8949 §8, as its appendix A does). It takes any well-formed item, deterministic or not.
/// Texts are made harmless, so that a log cannot command a terminal. Byte strings and texts beyond a limit are cut and shown with
/// their length.
/// </summary>
/// <param name="stringBytesMax">The limit of byte strings and texts, in bytes.</param>
internal sealed class CborDiagnostic(int stringBytesMax = int.MaxValue)
{
    private const byte BytesInPieces = 0x5F, TextInPieces = 0x7F, Break = 0xFF;
    private const int ExponentMin = -7, ExponentMax = 20; // beyond them with an exponent
    private const ulong PositiveBignum = 2, NegativeBignum = 3;

    /// <summary>
    /// Writes all items of a sequence with commas between them, or "malformed" with the bytes where they are no sequence.
    /// </summary>
    public static string OfSequence(ReadOnlySpan<byte> sequence, int stringBytesMax = int.MaxValue)
    {
        var to = new StringBuilder();
        var writer = new CborDiagnostic(stringBytesMax);
        try
        {
            var from = new CborReader(sequence, lenient: true);
            while (!from.AtEnd)
            {
                if (to.Length > 0) to.Append(", ");
                writer.Write(ref from, to);
            }
            return to.ToString();
        }
        catch (CborException damage)
        {
            to.Clear().Append("malformed(");
            writer.WriteBytes(sequence, to);
            return to.Append(") /").Append(damage.Message).Append('/').ToString();
        }
    }

    /// <summary>Writes the next item.</summary>
    /// <param name="from">A lenient reader.</param>
    /// <exception cref="CborException">It is malformed.</exception>
    public void Write(ref CborReader from, StringBuilder to)
    {
        switch (from.PeekKind())
        {
            case CborKind.Unsigned: to.Append(from.ReadUInt64()); break;
            case CborKind.Negative: to.Append(CultureInfo.InvariantCulture, $"{BigInteger.MinusOne - from.ReadNegative()}"); break;
            case CborKind.Bytes when from.Remaining[0] == BytesInPieces: WritePieces(ref from, to); break;
            case CborKind.Bytes: WriteBytes(from.ReadBytes(), to); break;
            case CborKind.Text when from.Remaining[0] == TextInPieces: WritePieces(ref from, to); break;
            case CborKind.Text: WriteText(from.ReadUtf8(), to); break;
            case CborKind.Array: WriteContainer(ref from, to, isMap: false); break;
            case CborKind.Map: WriteContainer(ref from, to, isMap: true); break;
            case CborKind.Tag: WriteTag(ref from, to); break;
            case CborKind.Boolean: to.Append(from.ReadBoolean() ? "true" : "false"); break;
            case CborKind.Null: from.ReadNull(); to.Append("null"); break;
            case CborKind.Undefined: from.ReadUndefined(); to.Append("undefined"); break;
            case CborKind.Float: to.Append(Float(from.ReadDouble())); break;
            default: to.Append(CultureInfo.InvariantCulture, $"simple({from.ReadSimple()})"); break;
        }
    }

    /// <summary>Writes bytes as <c>h'…'</c>; those beyond the limit are cut and counted.</summary>
    public void WriteBytes(ReadOnlySpan<byte> bytes, StringBuilder to)
    {
        to.Append("h'").Append(Convert.ToHexStringLower(bytes[..Math.Min(bytes.Length, stringBytesMax)]));
        if (bytes.Length > stringBytesMax) to.Append('…');
        to.Append('\'');
        if (bytes.Length > stringBytesMax) to.Append(CultureInfo.InvariantCulture, $"({bytes.Length} bytes)");
    }

    private void WriteText(ReadOnlySpan<byte> utf8, StringBuilder to)
    {
        int cut = Math.Min(utf8.Length, stringBytesMax);
        while (cut > 0 && cut < utf8.Length && (utf8[cut] & 0xC0) == 0x80) cut--; // not inside a character
        to.Append('"');
        string text = Encoding.UTF8.GetString(utf8[..cut]);
        to.Append(HarmlessText.Quoted(
            text.Replace("\\", "\\\\", StringComparison.Ordinal).Replace("\"", "\\\"", StringComparison.Ordinal)));
        if (cut < utf8.Length) to.Append('…');
        to.Append('"');
        if (cut < utf8.Length) to.Append(CultureInfo.InvariantCulture, $"({utf8.Length} bytes)");
    }

    private void WritePieces(ref CborReader from, StringBuilder to)
    {
        var pieces = new CborReader(from.Remaining[1..], lenient: true);
        from.Skip(); // checks that each piece is one of the same kind
        to.Append("(_ ");
        for (bool first = true; pieces.Remaining[0] != Break; first = false)
        {
            if (!first) to.Append(", ");
            Write(ref pieces, to);
        }
        to.Append(')');
    }

    private void WriteContainer(ref CborReader from, StringBuilder to, bool isMap)
    {
        from.EnterNested();
        int count = isMap ? from.ReadMapHeader() : from.ReadArrayHeader();
        to.Append(isMap ? '{' : '[');
        if (count == CborReader.IndefiniteLength) to.Append("_ ");
        for (int i = 0; count == CborReader.IndefiniteLength ? !from.TryReadBreak() : i < count; i++)
        {
            if (i > 0) to.Append(", ");
            Write(ref from, to);
            if (!isMap) continue;
            to.Append(": ");
            Write(ref from, to);
        }
        to.Append(isMap ? '}' : ']');
        from.LeaveNested();
    }

    private void WriteTag(ref CborReader from, StringBuilder to)
    {
        from.EnterNested();
        ulong tag = from.ReadTag();
        if (tag is PositiveBignum or NegativeBignum && from.PeekKind() == CborKind.Bytes)
        {
            var value = new BigInteger(from.ReadBytes(), isUnsigned: true, isBigEndian: true);
            to.Append(CultureInfo.InvariantCulture, $"{(tag == PositiveBignum ? value : BigInteger.MinusOne - value)}");
        }
        else
        {
            to.Append(tag).Append('(');
            Write(ref from, to);
            to.Append(')');
        }
        from.LeaveNested();
    }

    /// <summary>Always with a point or an exponent, so that a float never looks like an integer.</summary>
    private static string Float(double value)
    {
        if (double.IsNaN(value)) return "NaN";
        if (double.IsInfinity(value)) return value > 0 ? "Infinity" : "-Infinity";
        string text = value.ToString("R", CultureInfo.InvariantCulture);
        int at = text.IndexOf('E');
        if (at < 0) return text.Contains('.') ? text : text + ".0";
        int exponent = int.Parse(text.AsSpan(at + 1), NumberStyles.AllowLeadingSign, CultureInfo.InvariantCulture);
        string sign = value < 0 ? "-" : "", mantissa = text[sign.Length..at], digits = mantissa.Replace(".", "");
        if (exponent is < 0 and >= ExponentMin) return $"{sign}0.{new string('0', -exponent - 1)}{digits}";
        if (exponent is > 0 and <= ExponentMax) return $"{sign}{digits.PadRight(exponent + 1, '0')}.0";
        return $"{sign}{(mantissa.Contains('.') ? mantissa : mantissa + ".0")}e{(exponent < 0 ? '-' : '+')}{Math.Abs(exponent)}";
    }
}
