using System.Text.Json;
using Ambrosia.Inspection.Decoding;
using Ambrosia.Tools.Output;

namespace Ambrosia.Tools.Contracts;

/// <summary>
/// Knows the types that a manifest may name: those of docs/contract.md C2.1, its own, and those of the manifests beside it, since a type
/// may be of a unit that this one refers to (C2.2).
/// </summary>
internal sealed class ManifestTypes
{
    private static readonly HashSet<string> s_numbers = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"];

    private static readonly HashSet<string> s_plain =
    [
        "bool", "float32", "float64", "decimal", "char", "text", "bytes", "guid", "datetime", "datetimeoffset", "timespan", "date", "time",
        .. s_numbers,
    ];

    private readonly ContractModel _model;

    /// <summary>The model holds the types of the manifest at <paramref name="file"/>, and gets those of the manifests beside it.</summary>
    public ManifestTypes(string file, JsonElement manifest)
    {
        _model = new ContractModel();
        _model.Add(manifest);
        string full = Path.GetFullPath(file);
        foreach (string other in Directory.EnumerateFiles(Path.GetDirectoryName(full)!, "*.contract.json").Order(StringComparer.Ordinal))
            if (other != full) TryAdd(other);
    }

    /// <summary>All that is known of types; contracts of it are of no concern here.</summary>
    public ContractModel Model => _model;

    public static bool IsNumber(string type) => s_numbers.Contains(type);

    /// <summary>Says why a text is no type of this manifest; null: it is one.</summary>
    public string? ProblemOf(string text) =>
        text.AsSpan().ContainsAny(' ', '\t', '\n') ? "a type is written without spaces"
        : SchemaType.Parse(text) is { } type ? ProblemOf(type) : $"'{text}' is no type";

    private string? ProblemOf(SchemaType type)
    {
        int inner = type.Name switch { "list" => 1, "map" => 2, "tuple" => Math.Max(1, type.Inner.Count), _ => 0 };
        if (type.Name is "data" or "enum" or "union") return ProblemOfName(type);
        if (inner == 0 && !s_plain.Contains(type.Name)) return $"there is no type '{type.Name}'";
        if (type.Inner.Count != inner) return $"'{type.Text}' has {type.Inner.Count} types within, and {type.Name} has {inner}";
        return type.Inner.Select(ProblemOf).FirstOrDefault(static problem => problem is not null);
    }

    private string? ProblemOfName(SchemaType type)
    {
        string name = type.TypeName;
        if (type.Name == "data") return _model.Data.ContainsKey(name) ? null : $"there is no data type '{name}'";
        if (type.Name == "union") return _model.Unions.ContainsKey(name) ? null : $"there is no union '{name}'";
        if (!_model.Enums.TryGetValue(name, out EnumRow? known)) return $"there is no enum '{name}'";
        return type.Text.TrimEnd('?') == $"enum<{name},{known.Type}>" ? null
            : $"'{type.Text}' does not say that the enum is of {known.Type}";
    }

    /// <summary>What stands beside a manifest may be damaged without its being wrong: then it only gives no types.</summary>
    private void TryAdd(string file)
    {
        try
        {
            using JsonDocument json = ManifestFiles.Parse(file);
            _model.Add(json.RootElement);
        }
        catch (Exception e) when (e is ToolMisuse or IOException or UnauthorizedAccessException or InvalidOperationException
            or KeyNotFoundException or FormatException)
        {
        }
    }
}
