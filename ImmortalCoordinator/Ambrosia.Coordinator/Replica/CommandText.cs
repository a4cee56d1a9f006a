using System.Diagnostics.CodeAnalysis;
using System.Text;

namespace Ambrosia.Coordinator.Replica;

/// <summary>Is a program with its arguments as one text: words between spaces, those with spaces in double quotes.</summary>
public static class CommandText
{
    /// <summary>Parses a command; false: it is empty, or a quote is not closed.</summary>
    public static bool TryParse(string text, [NotNullWhen(true)] out IReadOnlyList<string>? words)
    {
        var found = new List<string>();
        var word = new StringBuilder();
        bool isInside = false, isWord = false;
        foreach (char each in text)
        {
            if (each == '"') (isInside, isWord) = (!isInside, true);
            else if (isInside || !char.IsWhiteSpace(each))
            {
                word.Append(each);
                isWord = true;
            }
            else if (isWord)
            {
                found.Add(word.ToString());
                word.Clear();
                isWord = false;
            }
        }
        if (isWord) found.Add(word.ToString());
        words = isInside || found.Count == 0 || found[0].Length == 0 ? null : found;
        return words is not null;
    }

    /// <summary>Writes a command so that <see cref="TryParse"/> gives its words, as long as none has a double quote.</summary>
    public static string Of(IReadOnlyList<string> words) =>
        string.Join(' ', words.Select(static word => word.Length == 0 || word.Any(char.IsWhiteSpace) ? $"\"{word}\"" : word));
}
