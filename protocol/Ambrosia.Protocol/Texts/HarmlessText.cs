using System.Globalization;
using System.Text;

namespace Ambrosia.Protocol.Texts;

/// <summary>
/// Makes texts of others harmless before they reach a terminal, a source file or a line of output: the one function for all of them. A
/// character that a terminal or a compiler obeys, that turns the direction of a line, or that cannot be seen, becomes <c>\uXXXX</c>; those
/// are all control, format, private and unassigned characters, all separators but the space, and halves of a surrogate pair. A text
/// without them comes back as it is, and so does a text that was made harmless before. It owns nothing, so any thread may use it.
/// </summary>
public static class HarmlessText
{
    /// <summary>Returns a text as one line: an end of line and a tab become a space.</summary>
    public static string Line(string text) => IsPlain(text) ? text : Escape(text, static c => IsSpacing(c) ? ' ' : null);

    /// <summary>Returns the beginning of a text as one line: <paramref name="charsMax"/> characters of it at most are looked at.</summary>
    public static string Beginning(string text, int charsMax) => Line(text.Length <= charsMax ? text : text[..charsMax]);

    /// <summary>Returns a text of several lines; its ends of lines and its tabs stay.</summary>
    public static string Lines(string text) => IsPlain(text) ? text : Escape(text, static c => IsSpacing(c) ? c : null);

    /// <summary>
    /// Returns what stands between quotes, in JSON and in C# alike, with each such character escaped. Quotes and backslashes are the
    /// caller's. JSON that is complete stays JSON with the same meaning, if it has no line ends between its values.
    /// </summary>
    public static string Quoted(string text) => IsPlain(text) ? text : Escape(text, static _ => null);

    /// <summary>Returns a text between quotes, as a string literal of JSON and of C#.</summary>
    public static string Literal(string text) =>
        $"\"{Quoted(text.Replace("\\", "\\\\", StringComparison.Ordinal).Replace("\"", "\\\"", StringComparison.Ordinal))}\"";

    /// <summary>Returns JSON of several lines with the same meaning.</summary>
    public static string Json(string text) => IsPlain(text) ? text : Escape(text, static c => c == '\n' ? c : null);

    /// <summary>
    /// Returns a text for a comment that ends with its line: of ASCII alone, and never with a backslash at its end, which in C++ takes the
    /// next line into the comment.
    /// </summary>
    public static string Comment(string text)
    {
        string line = IsPlain(text) ? text : Escape(text, static c => IsSpacing(c) ? ' ' : null, asciiOnly: true);
        return line.EndsWith('\\') ? line + '.' : line;
    }

    /// <summary>Returns whether a text needs no change, so that it may be shown as it is.</summary>
    public static bool IsHarmless(string text)
    {
        if (IsPlain(text)) return true;
        for (int at = 0, chars; at < text.Length; at += chars)
            if (!IsHarmless(text, at, out chars)) return false;
        return true;
    }

    private static bool IsSpacing(char c) => c is '\n' or '\t';

    private static bool IsPlain(string text) => !text.AsSpan().ContainsAnyExceptInRange(' ', '~');

    /// <param name="instead">Returns what stands in place of an end of line or a tab, or null if it is escaped.</param>
    private static string Escape(string text, Func<char, char?> instead, bool asciiOnly = false)
    {
        var to = new StringBuilder(text.Length + 16);
        for (int at = 0, chars; at < text.Length; at += chars)
        {
            bool isHarmless = IsHarmless(text, at, out chars) && !(asciiOnly && text[at] > '~');
            char first = text[at];
            bool isPair = first == '\r' && at + 1 < text.Length && text[at + 1] == '\n';
            if (isPair && instead('\n') is not null) continue; // its \n stands for both
            if (isHarmless) to.Append(text, at, chars);
            else if (instead(first == '\r' ? '\n' : first) is { } other) to.Append(other);
            else
                foreach (char each in text.AsSpan(at, chars)) to.Append(CultureInfo.InvariantCulture, $"\\u{(int)each:x4}");
        }
        return to.ToString();
    }

    /// <param name="chars">The length of the character at this place: 2 for a surrogate pair.</param>
    private static bool IsHarmless(string text, int at, out int chars)
    {
        char first = text[at];
        bool isPair = char.IsHighSurrogate(first) && at + 1 < text.Length && char.IsLowSurrogate(text[at + 1]);
        chars = isPair ? 2 : 1;
        if (first is >= ' ' and <= '~') return true;
        return CharUnicodeInfo.GetUnicodeCategory(isPair ? char.ConvertToUtf32(first, text[at + 1]) : first) is not
            (UnicodeCategory.Control or UnicodeCategory.Format or UnicodeCategory.Surrogate or UnicodeCategory.PrivateUse
            or UnicodeCategory.OtherNotAssigned or UnicodeCategory.LineSeparator or UnicodeCategory.ParagraphSeparator
            or UnicodeCategory.SpaceSeparator);
    }
}
