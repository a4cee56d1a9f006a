using System.Text;
using Ambrosia.Inspection.Decoding;
using Ambrosia.Protocol.Texts;

namespace Ambrosia.Tools.Generation;

/// <summary>
/// Spells the names of a manifest in C++. A name that C++ has for itself gets a line behind it; what is no letter, digit or line becomes
/// one. The manifest's own names stay what travels.
/// </summary>
internal static class CppNames
{
    /// <summary>The names of generic types within each other that are spelled as such.</summary>
    private const int NamesMax = 16;

    private static readonly HashSet<string> s_reserved = [
        .. ("alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t char32_t class compl concept const "
            + "consteval constexpr constinit const_cast continue co_await co_return co_yield decltype default delete do double dynamic_cast else enum "
            + "explicit export extern false float for friend goto if inline int long mutable namespace new noexcept not not_eq nullptr operator or "
            + "or_eq private protected public register reinterpret_cast requires return short signed sizeof static static_assert static_cast struct "
            + "switch template this thread_local throw true try typedef typeid typename union unsigned using virtual void volatile wchar_t while xor "
            + "xor_eq").Split(' '),
    ];

    public static string Of(string name)
    {
        var text = new StringBuilder(name.Length);
        foreach (char c in name) text.Append(char.IsAsciiLetterOrDigit(c) || c == '_' ? c : '_');
        if (text.Length == 0 || char.IsAsciiDigit(text[0])) text.Insert(0, '_');
        string spelled = text.ToString();
        return s_reserved.Contains(spelled) ? spelled + "_" : spelled;
    }

    /// <summary>
    /// Returns the namespace of a type, spelled for a block, and its own name. Behind that of a use of a generic type stand its type
    /// arguments: <c>Page_Order</c>.
    /// </summary>
    public static (string Namespace, string Name) Split(string fullName) => Split(fullName, 0);

    private static (string Namespace, string Name) Split(string fullName, int depth)
    {
        int open = fullName.IndexOf('<', StringComparison.Ordinal);
        string plain = open < 0 ? fullName : fullName[..open];
        int dot = plain.LastIndexOf('.');
        (string space, string name) = dot < 0 ? ("", plain) : (plain[..dot], plain[(dot + 1)..]);
        if (open >= 0)
            name += depth < NamesMax && SchemaType.Parse($"tuple{fullName[open..]}") is { } arguments
                ? string.Concat(arguments.Inner.Select(each => $"_{Word(each, space, depth)}")) : fullName[open..];
        return (Space(space), Of(name));
    }

    /// <summary>
    /// Spells a type argument as a part of a name. Types of the generic type's own namespace are called by their names alone.
    /// </summary>
    private static string Word(SchemaType type, string space, int depth)
    {
        string word = string.Join('_', type.Inner.Select(each => Word(each, space, depth)).Prepend(type.Name));
        if (type.TypeName.Length > 0)
        {
            (string of, string own) = Split(type.TypeName, depth + 1);
            word = of.Length == 0 || of == Space(space) ? own : $"{of.Replace("::", "_", StringComparison.Ordinal)}_{own}";
        }
        return type.IsNullable ? $"optional_{word}" : word;
    }

    public static string Space(string space) => string.Join("::", space.Split('.', StringSplitOptions.RemoveEmptyEntries).Select(Of));

    public static string Qualified(string fullName) => Split(fullName) is ({ Length: > 0 } space, var name) ? $"{space}::{name}"
        : Of(fullName);

    /// <summary>A text as a literal: quotes, backslashes and what is not harmless are escaped, the latter as bytes of UTF-8.</summary>
    public static string Literal(string text)
    {
        var literal = new StringBuilder("\"");
        foreach (Rune rune in text.EnumerateRunes())
        {
            string c = rune.ToString();
            if (c is "\"" or "\\") literal.Append('\\').Append(c);
            else if (HarmlessText.IsHarmless(c)) literal.Append(c);
            else
                foreach (byte each in Encoding.UTF8.GetBytes(c)) literal.Append('\\').Append(Convert.ToString(each, 8).PadLeft(3, '0'));
        }
        return literal.Append('"').ToString();
    }
}
