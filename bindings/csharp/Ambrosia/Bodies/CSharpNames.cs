using System.Text.RegularExpressions;

namespace Ambrosia;

/// <summary>Ids of methods as people write them.</summary>
internal static partial class CSharpNames
{
    private static readonly Dictionary<string, string> s_keywords = new()
    {
        ["System.Boolean"] = "bool", ["System.Byte"] = "byte", ["System.SByte"] = "sbyte", ["System.Int16"] = "short",
        ["System.UInt16"] = "ushort", ["System.Int32"] = "int",
        ["System.UInt32"] = "uint", ["System.Int64"] = "long", ["System.UInt64"] = "ulong", ["System.Single"] = "float",
        ["System.Double"] = "double",
        ["System.Decimal"] = "decimal", ["System.Char"] = "char", ["System.String"] = "string", ["System.Object"] = "object",
    };

    /// <summary>
    /// Of <c>Demo.Bank.Move(System.String,System.Int64):Ambrosia.Call`1&lt;System.Int64&gt;</c>: <c>Demo.Bank.Move(string, long)</c>.
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
