using System.Text.RegularExpressions;

namespace Ambrosia.MethodBodies;

/// <summary>Turns ids of methods into what people write in C#.</summary>
internal static partial class CSharpNames
{
    private static readonly Dictionary<string, string> s_keywords = new()
    {
        ["System.Boolean"] = "bool", ["System.Char"] = "char", ["System.String"] = "string", ["System.Object"] = "object",
        ["System.Byte"] = "byte", ["System.Int16"] = "short", ["System.Int32"] = "int", ["System.Int64"] = "long",
        ["System.SByte"] = "sbyte", ["System.UInt16"] = "ushort", ["System.UInt32"] = "uint", ["System.UInt64"] = "ulong",
        ["System.Single"] = "float", ["System.Double"] = "double", ["System.Decimal"] = "decimal",
    };

    /// <summary>
    /// Returns the signature for an id: <c>Demo.Bank.Move(string, long)</c> for
    /// <c>Demo.Bank.Move(System.String,System.Int64):Ambrosia.Call`1&lt;System.Int64&gt;</c>.
    /// </summary>
    internal static string Signature(string id)
    {
        int open = id.IndexOf('('), close = id.LastIndexOf("):", StringComparison.Ordinal);
        if (open < 0 || close < open) return id;
        string parameters = Name().Replace(id[(open + 1)..close], static name => Short(name.Value))
            .Replace(",", ", ", StringComparison.Ordinal);
        return $"{id[..open].Replace('+', '.')}({parameters})";
    }

    private static string Short(string name)
    {
        if (s_keywords.TryGetValue(name, out string? keyword)) return keyword;
        int tick = name.IndexOf('`', StringComparison.Ordinal);
        string plain = tick < 0 ? name : name[..tick];
        return plain[(plain.LastIndexOfAny(['.', '+']) + 1)..];
    }

    [GeneratedRegex(@"[\w.+`]+")]
    private static partial Regex Name();
}
