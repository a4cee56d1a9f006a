using System.Buffers;
using System.Text;

namespace Ambrosia.Protocol.Payloads;

/// <summary>
/// Encodes texts as UTF-8. A text may hold half of a surrogate pair, which UTF-8 cannot say. The framework's encoder puts U+FFFD in its
/// place and so makes one identity of many; it is banned here (BannedSymbols.Text.txt), and each use says instead what the text is.
/// </summary>
public static class Utf8Text
{
    private const int SurrogateBytes = 3;

    private static readonly UTF8Encoding s_strict = new(encoderShouldEmitUTF8Identifier: false, throwOnInvalidBytes: true),
        s_replacing = new(encoderShouldEmitUTF8Identifier: false, throwOnInvalidBytes: false);

    /// <summary>Returns true if UTF-8 can say the text, so that it can name something.</summary>
    public static bool IsIdentity(string text) => HalfIn(text) < 0;

    /// <summary>Encodes a text that names something: a key, an id, a name. Two texts never have the same bytes.</summary>
    /// <exception cref="ArgumentException">The text holds half of a surrogate pair.</exception>
    public static byte[] Identity(string text)
    {
        int half = HalfIn(text);
        if (half < 0) return s_strict.GetBytes(text);
        throw new ArgumentException(
            $"The text has half of a surrogate pair, U+{(int)text[half]:X4}, at {half}, which UTF-8 cannot encode: it was cut inside a "
            + "character. Give it whole, or give a key of bytes.",
            nameof(text));
    }

    /// <summary>
    /// Encodes a text for a hash: halves of surrogate pairs have three bytes of their own, as if they were characters, so that two texts
    /// never have the same bytes.
    /// </summary>
    public static byte[] Exact(string text)
    {
        if (HalfIn(text) < 0) return s_strict.GetBytes(text);
        var bytes = new ArrayBufferWriter<byte>(text.Length * SurrogateBytes);
        ReadOnlySpan<char> rest = text;
        while (!rest.IsEmpty)
        {
            Span<byte> to = bytes.GetSpan(sizeof(int));
            if (Rune.DecodeFromUtf16(rest, out Rune rune, out int taken) == OperationStatus.Done) bytes.Advance(rune.EncodeToUtf8(to));
            else
            {
                (to[0], to[1]) = ((byte)(0xE0 | (rest[0] >> 12)), (byte)(0x80 | ((rest[0] >> 6) & 0x3F)));
                to[2] = (byte)(0x80 | (rest[0] & 0x3F));
                bytes.Advance(SurrogateBytes);
                taken = 1;
            }
            rest = rest[taken..];
        }
        return bytes.WrittenSpan.ToArray();
    }

    /// <summary>Encodes a text that only people read: what is no text is replaced.</summary>
    public static byte[] Shown(string text) => s_replacing.GetBytes(text);

    /// <summary>Decodes a text that only people read, or that is compared with a whole one: what is no text is replaced.</summary>
    public static string Shown(ReadOnlySpan<byte> text) => s_replacing.GetString(text);

    /// <summary>Returns where the first half of a surrogate pair stands that has no other half; −1: nowhere.</summary>
    private static int HalfIn(string text)
    {
        for (int i = 0; i < text.Length; i++)
        {
            if (!char.IsSurrogate(text[i])) continue;
            if (i + 1 == text.Length || !char.IsSurrogatePair(text[i], text[i + 1])) return i;
            i++;
        }
        return -1;
    }
}
