using System.Text.RegularExpressions;

namespace Ambrosia.Tidy.Tests.Words;

/// <summary>
/// The words that the glossary tells to avoid. An entry has a line <c>*Avoid*: word, `Identifier`.</c>: a plain word (or several) is
/// avoided as a part of identifiers, whatever its capitals and with an s behind it; a word in backquotes is avoided as it stands, where
/// documents quote code too.
/// </summary>
internal sealed partial class AvoidedWords
{
    /// <summary>Each plain word as its parts, in small letters.</summary>
    private readonly string[][] _parts;
    private readonly HashSet<string> _exact;

    private AvoidedWords(string[][] parts, HashSet<string> exact)
    {
        _parts = parts;
        _exact = exact;
    }

    public int Count => _parts.Length + _exact.Count;

    public static AvoidedWords Parse(string glossary)
    {
        string[] words = [.. List().Matches(glossary).SelectMany(static list => list.Groups["words"].Value.Split(','))
            .Select(static word => Blank().Replace(word, " ").Trim()).Where(static word => word.Length > 0).Distinct()];
        return new AvoidedWords(
            [.. words.Where(static word => word[0] != '`').Select(static word => word.ToLowerInvariant().Split(' ', '-'))],
            [.. words.Where(static word => word[0] == '`').Select(static word => word.Trim('`'))]);
    }

    /// <summary>The avoided word in an identifier; null when there is none.</summary>
    public string? FindIn(string identifier)
    {
        if (_exact.Contains(identifier)) return identifier;
        string[] parts = [.. Part().Matches(identifier).Select(static part => part.Value.ToLowerInvariant())];
        return _parts.FirstOrDefault(word => Enumerable.Range(0, parts.Length).Any(at => StandsAt(word, parts, at))) is { } found
            ? string.Join(' ', found) : null;
    }

    /// <summary>The avoided identifiers in the quotations of code of a document.</summary>
    public IEnumerable<string> FindInText(string text) => Quotation().Matches(text)
        .SelectMany(static quotation => Identifier().Matches(quotation.Value)).Select(static word => word.Value).Where(_exact.Contains);

    private static bool StandsAt(string[] word, string[] parts, int at)
    {
        if (at + word.Length > parts.Length) return false;
        for (int i = 0; i < word.Length; i++)
        {
            bool isLast = i == word.Length - 1;
            if (parts[at + i] != word[i] && !(isLast && parts[at + i] == word[i] + "s")) return false;
        }

        return true;
    }

    [GeneratedRegex(@"\*Avoid\*:(?<words>(?:[^.`]|`[^`]*`)*)\.")]
    private static partial Regex List();

    [GeneratedRegex(@"\s+")]
    private static partial Regex Blank();

    [GeneratedRegex(@"\p{Lu}+(?!\p{Ll})|\p{Lu}?\p{Ll}+|\d+")]
    private static partial Regex Part();

    [GeneratedRegex("`[^`]+`")]
    private static partial Regex Quotation();

    [GeneratedRegex(@"\w+")]
    private static partial Regex Identifier();
}
