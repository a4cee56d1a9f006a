namespace Ambrosia.Inspection.Texts;

/// <summary>Writes words so that a shell reads them as they are: whoever is told a command copies it.</summary>
public static class ShellWords
{
    private const string Plain = "_./:=@%+,-";

    /// <summary>Returns a command line of these words.</summary>
    public static string Join(params IEnumerable<string> words) => string.Join(' ', words.Select(Quote));

    /// <summary>Returns a word as a shell takes it: in quotes if anything in it means something there.</summary>
    public static string Quote(string word) =>
        word.Length > 0 && word.All(static each => char.IsAsciiLetterOrDigit(each) || Plain.Contains(each)) ? word
            : $"'{word.Replace("'", "'\\''", StringComparison.Ordinal)}'";
}
