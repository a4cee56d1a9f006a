using System.Globalization;
using System.Text;
using Ambrosia.Protocol.Payloads;

namespace Ambrosia.Protocol.Texts;

/// <summary>Writes words so that a shell reads them as they are: whoever is told a command copies it.</summary>
public static class ShellWords
{
    private const string Plain = "_./:=@%+,-";

    /// <summary>Returns a command line of these words.</summary>
    public static string Join(params IEnumerable<string> words) => string.Join(' ', words.Select(Quote));

    /// <summary>
    /// Returns a word as a shell takes it: in quotes if anything in it means something there, and as <c>$'…'</c> with escapes if a terminal
    /// would obey something in it.
    /// </summary>
    public static string Quote(string word) =>
        word.Length > 0 && word.All(static each => char.IsAsciiLetterOrDigit(each) || Plain.Contains(each)) ? word
            : HarmlessText.IsHarmless(word) ? $"'{word.Replace("'", "'\\''", StringComparison.Ordinal)}'" : Escaped(word);

    private static string Escaped(string word)
    {
        var to = new StringBuilder("$'");
        foreach (byte each in Utf8Text.Shown(word))
            if (each is (byte)'\'' or (byte)'\\') to.Append('\\').Append((char)each);
            else if (each is >= (byte)' ' and <= (byte)'~') to.Append((char)each);
            else to.Append(CultureInfo.InvariantCulture, $"\\x{each:x2}");
        return to.Append('\'').ToString();
    }
}
