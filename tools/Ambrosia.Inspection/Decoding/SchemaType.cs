namespace Ambrosia.Inspection.Decoding;

/// <summary>
/// It describes a type as a contract manifest writes it (docs/contract.md C2): <c>int64</c>, <c>text?</c>,
/// <c>list&lt;data&lt;Order&gt;&gt;</c>.
/// </summary>
/// <param name="Name">The name before '&lt;' and '?'.</param>
/// <param name="Inner">The type of elements, of key and value, or of the tuple's items; empty for enums, unions and data.</param>
/// <param name="TypeName">The name of an enum, union or data type in its language; else empty.</param>
/// <param name="Text">The type as it was written.</param>
internal sealed record SchemaType(string Name, bool IsNullable, IReadOnlyList<SchemaType> Inner, string TypeName, string Text)
{
    private const int DepthMax = 64;

    /// <summary>Parses a type; returns null where the text is none.</summary>
    public static SchemaType? Parse(string text)
    {
        int at = 0;
        return Read(text, ref at, 0) is { } type && at == text.Length ? type : null;
    }

    private static SchemaType? Read(string text, ref int at, int depth)
    {
        int start = at;
        while (at < text.Length && char.IsAsciiLetterOrDigit(text[at])) at++;
        string name = text[start..at];
        if (name.Length == 0 || depth > DepthMax) return null;
        var inner = new List<SchemaType>();
        string typeName = "";
        if (at < text.Length && text[at] == '<')
        {
            at++;
            if (name is "enum" or "data" or "union") typeName = TakeName(text, ref at, isEnum: name == "enum");
            else if (!TakeInner(text, ref at, depth, inner)) return null;
            if (at >= text.Length || text[at++] != '>') return null;
        }
        bool nullable = at < text.Length && text[at] == '?';
        if (nullable) at++;
        return new SchemaType(name, nullable, inner, typeName, text[start..at]);
    }

    private static bool TakeInner(string text, ref int at, int depth, List<SchemaType> inner)
    {
        do
        {
            if (Read(text, ref at, depth + 1) is not { } type) return false;
            inner.Add(type);
        }
        while (at < text.Length && text[at] == ',' && at++ >= 0);
        return true;
    }

    /// <summary>
    /// Reads the name of an enum, union or data type, in which types may stand (C2.4). The number type that follows the comma of an enum is
    /// left out.
    /// </summary>
    private static string TakeName(string text, ref int at, bool isEnum)
    {
        int start = at, open = 0;
        while (at < text.Length && (text[at] != '>' || open > 0))
        {
            if (text[at] == '<') open++;
            else if (text[at] == '>') open--;
            at++;
        }
        string name = text[start..at];
        int comma = isEnum ? name.LastIndexOf(',') : -1;
        return comma < 0 ? name : name[..comma];
    }
}
