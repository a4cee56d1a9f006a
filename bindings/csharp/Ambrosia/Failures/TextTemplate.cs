using System.Text;

namespace Ambrosia.Failures;

/// <summary>
/// Is a text with holes: what stands between the <c>{0}</c> of a composite format. It says whether a finished text may have been made of
/// it, in time that grows with the text alone, and never with the number of ways to fill the holes. Immutable.
/// </summary>
internal sealed class TextTemplate
{
    private readonly string[] _literals;

    private TextTemplate(string[] literals)
    {
        _literals = literals;
        Letters = literals.Sum(static literal => literal.Count(char.IsLetter));
        Words = literals.Sum(WordsIn);
    }

    /// <summary>The first literal, before the first hole; it may be empty.</summary>
    internal string Start => _literals[0];

    internal bool HasHoles => _literals.Length > 1;

    /// <summary>The letters of all literals.</summary>
    internal int Letters { get; }

    /// <summary>The words of all literals.</summary>
    internal int Words { get; }

    /// <summary>Reads a composite format. What is no hole by its rules is literal: texts without values are never formatted.</summary>
    internal static TextTemplate Parse(string format)
    {
        var literals = new List<string>(2);
        var literal = new StringBuilder();
        for (int at = 0; at < format.Length; at++)
        {
            int hole = HoleAt(format, at);
            if (hole > 0)
            {
                literals.Add(literal.ToString());
                literal.Clear();
                at += hole - 1;
                continue;
            }
            literal.Append(format[at]);
            bool isDoubled = format[at] is '{' or '}' && at + 1 < format.Length && format[at + 1] == format[at];
            if (isDoubled) at++;
        }
        literals.Add(literal.ToString());
        return new TextTemplate([.. literals]);
    }

    internal bool Fits(string text)
    {
        if (!HasHoles) return text == _literals[0];
        string last = _literals[^1];
        int at = _literals[0].Length, end = text.Length - last.Length;
        if (end < at || !text.StartsWith(_literals[0], StringComparison.Ordinal) || !text.EndsWith(last, StringComparison.Ordinal))
            return false;
        foreach (string literal in _literals.AsSpan(1, _literals.Length - 2))
        {
            int found = text.AsSpan(at, end - at).IndexOf(literal, StringComparison.Ordinal);
            if (found < 0) return false;
            at += found + literal.Length;
        }
        return true;
    }

    /// <summary>Returns the length of the hole that begins here: braces with a number, an alignment, a format. 0: none does.</summary>
    private static int HoleAt(string format, int at)
    {
        if (format[at] != '{') return 0;
        int end = at + 1;
        while (end < format.Length && char.IsAsciiDigit(format[end])) end++;
        if (end == at + 1 || end == format.Length) return 0;
        if (format[end] == ',')
        {
            end++;
            if (end < format.Length && format[end] == '-') end++;
            while (end < format.Length && char.IsAsciiDigit(format[end])) end++;
        }
        if (end < format.Length && format[end] == ':')
            while (end < format.Length && format[end] is not ('{' or '}')) end++;
        return end < format.Length && format[end] == '}' ? end + 1 - at : 0;
    }

    private static int WordsIn(string literal)
    {
        int words = 0;
        for (int i = 0; i < literal.Length; i++)
            if (char.IsLetter(literal[i]) && (i == 0 || !char.IsLetter(literal[i - 1]))) words++;
        return words;
    }
}
