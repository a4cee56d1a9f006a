using Ambrosia.Protocol;

namespace Ambrosia.State;

/// <summary>
/// Writes and reads texts, which have no identity: equal ones are written each time. A text with lone surrogates, which UTF-8 cannot say,
/// is an array of code units.
/// </summary>
internal static class Texts
{
    internal static void Write(ref CborWriter to, string? value)
    {
        if (value is null) to.WriteNull();
        else if (!HasLoneSurrogate(value)) to.WriteString(value);
        else
        {
            to.WriteArrayHeader(value.Length);
            foreach (char c in value) to.WriteUInt64(c);
        }
    }

    internal static string? Read(ref CborReader from)
    {
        if (from.TryReadNull()) return null;
        if (from.PeekKind() != CborKind.Array) return from.ReadString();
        var chars = new char[from.ReadArrayHeader()];
        for (int i = 0; i < chars.Length; i++) chars[i] = from.ReadChar();
        return new string(chars);
    }

    private static bool HasLoneSurrogate(string text)
    {
        int first = text.AsSpan().IndexOfAnyInRange('\uD800', '\uDFFF');
        if (first < 0) return false;
        for (int i = first; i < text.Length; i++)
        {
            if (!char.IsSurrogate(text[i])) continue;
            if (i + 1 == text.Length || !char.IsSurrogatePair(text[i], text[i + 1])) return true;
            i++;
        }
        return false;
    }
}
