namespace Ambrosia.Failures;

/// <summary>
/// Tells the words of a framework from those of an app: the framework's fit one of its texts. A text counts if it has so many words of its
/// own that an app hardly writes it by chance; one with few counts for exceptions of the assembly that has it. Immutable, so any thread may
/// ask.
/// </summary>
internal sealed class FrameworkWords
{
    /// <summary>The letters that a template needs to count by itself, and one that begins with a value.</summary>
    private const int LettersMin = 14, LettersMinBehindAHole = 18;

    /// <summary>The letters that a text without holes needs, and a template for exceptions of its own assembly.</summary>
    private const int LettersMinWhole = 10, LettersMinAtHome = 6;

    /// <summary>A key that the innermost assembly has, unless it was trimmed of its texts.</summary>
    private const string KeyOfCore = "Arg_KeyNotFoundWithKey";

    /// <summary>The lengths of beginnings by which templates are found, the longest first.</summary>
    private static readonly int[] s_starts = [16, 8, 4, 0];

    private readonly HashSet<string> _whole = [];
    private readonly Dictionary<string, List<TextTemplate>> _byStart = [];
    private readonly Dictionary<string, List<TextTemplate>> _atHome = [];
    private readonly HashSet<string> _keys = [];
    private readonly bool _hasKeysForTexts;

    /// <summary>False: the framework was trimmed of its texts, at least of those that matter most.</summary>
    private readonly bool _hasTextsOfCore;

    /// <param name="texts">The texts of the framework.</param>
    /// <param name="hasKeysForTexts">The framework was told to use the keys of its texts in their place.</param>
    internal FrameworkWords(IEnumerable<FrameworkText> texts, bool hasKeysForTexts)
    {
        _hasKeysForTexts = hasKeysForTexts;
        var seen = new HashSet<string>();
        foreach ((string assembly, string key, string text) in texts)
        {
            if (hasKeysForTexts && key.Length > 0) _keys.Add(key);
            _hasTextsOfCore |= key == KeyOfCore;
            var template = TextTemplate.Parse(text);
            if (!template.HasHoles && template.Words > 1 && template.Letters >= LettersMinWhole) _whole.Add(text);
            else if (template.HasHoles && IsTelling(template))
            {
                if (seen.Add(text)) AddByStart(template);
            }
            else if (template.Letters >= LettersMinAtHome) ListOf(_atHome, assembly).Add(template);
        }
    }

    /// <summary>Says whether a text is the framework's.</summary>
    /// <param name="home">The assembly of the exception's type, or of the type of the framework that it derives from.</param>
    internal bool Has(string text, string home)
    {
        while (!IsOne(text, home)) // a text may be made of several, each on a line
        {
            int end = text.IndexOf('\n');
            if (end < 0 || !IsOne(text[..end].TrimEnd('\r'), home)) return false;
            text = text[(end + 1)..];
        }
        return true;
    }

    private bool IsOne(string text, string home)
    {
        if (_whole.Contains(text) || (_hasKeysForTexts && IsKey(text))) return true;
        Dictionary<string, List<TextTemplate>>.AlternateLookup<ReadOnlySpan<char>> byStart =
            _byStart.GetAlternateLookup<ReadOnlySpan<char>>();
        foreach (int length in s_starts)
            if (length <= text.Length && byStart.TryGetValue(text.AsSpan(0, length), out List<TextTemplate>? some) && AnyFits(some, text))
                return true;
        return _atHome.TryGetValue(home, out List<TextTemplate>? atHome) && AnyFits(atHome, text);
    }

    /// <summary>
    /// Says whether a text is a key with its values, as in <c>Arg_KeyNotFoundWithKey, bob</c>. A framework that was trimmed of its texts
    /// has no list of keys either; there a key is known by its form, a name with an underscore.
    /// </summary>
    private bool IsKey(string text)
    {
        int end = text.IndexOf(", ", StringComparison.Ordinal);
        string key = end < 0 ? text : text[..end];
        return _keys.Contains(key)
            || (!_hasTextsOfCore && key.IndexOf('_') > 0 && key.All(static c => char.IsAsciiLetterOrDigit(c) || c == '_'));
    }

    private static bool IsTelling(TextTemplate template) =>
        template.Words > 1 && template.Letters >= (template.Start.Any(char.IsLetter) ? LettersMin : LettersMinBehindAHole);

    private void AddByStart(TextTemplate template)
    {
        int length = Array.Find(s_starts, length => length <= template.Start.Length);
        ListOf(_byStart, template.Start[..length]).Add(template);
    }

    private static List<TextTemplate> ListOf(Dictionary<string, List<TextTemplate>> lists, string name)
    {
        if (!lists.TryGetValue(name, out List<TextTemplate>? list)) lists.Add(name, list = []);
        return list;
    }

    private static bool AnyFits(List<TextTemplate> templates, string text)
    {
        foreach (TextTemplate template in templates)
            if (template.Fits(text)) return true;
        return false;
    }
}
