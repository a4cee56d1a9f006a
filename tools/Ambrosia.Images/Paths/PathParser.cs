using System.Globalization;
using System.Text;
using Ambrosia.Protocol.Texts;

namespace Ambrosia.Images.Paths;

/// <summary>
/// Reads and writes paths. A name is what stands between dots and brackets; a key stands in brackets, with quotes around a text and escapes
/// as in JSON. A key that is more than a number or text is its JSON.
/// </summary>
internal ref struct PathParser
{
    private readonly string _text;
    private int _at;

    private PathParser(string text) => _text = text;

    internal static ImagePath Parse(string text)
    {
        var parser = new PathParser(text.Trim());
        ImagePath path = ImagePath.Root;
        while (parser._at < parser._text.Length)
        {
            bool isFirst = parser._at == 0;
            PathStep step = parser.Next();
            path = isFirst && step == ImagePath.Root.Step ? path : path.Then(step);
        }
        return parser._text.Length > 0 ? path : throw parser.Wrong("it is empty");
    }

    /// <summary>Says whether a text can stand behind a dot.</summary>
    internal static bool IsName(string text)
    {
        foreach (char c in text)
            if (IsEnd(c) || char.IsSurrogate(c)) return false;
        return text.Length > 0 && HarmlessText.IsHarmless(text);
    }

    /// <summary>Returns a text as it stands in brackets, so that it is read again as it was.</summary>
    internal static string Quoted(string text) => HarmlessText.Literal(text);

    private static bool IsEnd(char c) => c is '.' or '[' or ']' or '"' || char.IsWhiteSpace(c);

    private PathStep Next()
    {
        if (_text[_at] == '[') return Bracket();
        if (_text[_at] == '.') _at++;
        else if (_at > 0) throw Wrong("a dot or a bracket is missing there");
        int start = _at;
        while (_at < _text.Length && !IsEnd(_text[_at])) _at++;
        return _at > start ? PathStep.Name(_text[start.._at]) : throw Wrong("a name is missing there");
    }

    private PathStep Bracket()
    {
        _at++;
        PathStep step = _at < _text.Length && _text[_at] is '"' or '\'' ? PathStep.Key(QuotedText()) : PathStep.Index(BareText());
        if (_at == _text.Length || _text[_at] != ']') throw Wrong("a closing bracket is missing there");
        _at++;
        return step;
    }

    /// <summary>Reads what stands in brackets without quotes: a number, or the JSON of a key.</summary>
    private string BareText()
    {
        int start = _at, depth = 0;
        for (bool isText = false; _at < _text.Length; _at++)
        {
            char c = _text[_at];
            if (isText && c == '\\') _at++;
            else if (c == '"') isText = !isText;
            else if (isText) continue;
            else if (c is '{' or '[') depth++;
            else if (c is '}' or ']' && depth-- == 0) break;
        }
        _at = Math.Min(_at, _text.Length);
        string text = _text[start.._at].Trim();
        return text.Length > 0 ? text : throw Wrong("a number or a key is missing there");
    }

    private string QuotedText()
    {
        char quote = _text[_at++];
        var text = new StringBuilder();
        while (_at < _text.Length && _text[_at] != quote) text.Append(_text[_at] == '\\' ? Escaped() : _text[_at++]);
        if (_at == _text.Length) throw Wrong("the closing quote is missing");
        _at++;
        return text.ToString();
    }

    private char Escaped()
    {
        const int Digits = 4;
        char kind = ++_at < _text.Length ? _text[_at++] : throw Wrong("the closing quote is missing");
        if (kind != 'u') return kind switch { 'n' => '\n', 'r' => '\r', 't' => '\t', 'b' => '\b', 'f' => '\f', _ => kind };
        if (_at + Digits > _text.Length
            || !ushort.TryParse(_text.AsSpan(_at, Digits), NumberStyles.AllowHexSpecifier, CultureInfo.InvariantCulture, out ushort code))
            throw Wrong("four hexadecimal digits are missing there");
        _at += Digits;
        return (char)code;
    }

    private readonly ImagePathException Wrong(string why) =>
        new($"'{_text}' is no path: {why}{(_at < _text.Length ? $" (before '{_text[_at..]}')" : "")}", "", []);
}
