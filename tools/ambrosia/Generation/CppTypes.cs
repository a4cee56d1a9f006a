using Ambrosia.Inspection.Decoding;
using Ambrosia.Tools.Contracts;
using Ambrosia.Tools.Output;

namespace Ambrosia.Tools.Generation;

/// <summary>
/// Spells the types of a manifest in C++, and orders its data types so that each is complete where another holds it by value. A field that
/// may be missing and leads back to its own type is boxed.
/// </summary>
internal sealed class CppTypes
{
    private readonly ContractModel _model;

    /// <summary>The data types that each data type holds by value, a missing one included.</summary>
    private readonly Dictionary<string, HashSet<string>> _holds = new(StringComparer.Ordinal);

    public CppTypes(ContractModel model)
    {
        _model = model;
        foreach ((string name, IReadOnlyList<FieldRow> fields) in model.Data)
        {
            var held = new HashSet<string>(StringComparer.Ordinal);
            foreach (FieldRow field in fields) Collect(Parse(field.Type), held, evenIfMissing: true);
            _holds[name] = held;
        }
    }

    /// <summary>The type as a parameter, a result or an element has it.</summary>
    public static string Of(SchemaType type) => type.IsNullable ? $"std::optional<{Plain(type)}>" : Plain(type);

    public static string Of(string type) => Of(Parse(type));

    /// <summary>The type as a field of a data type has it.</summary>
    public string OfField(string owner, string text)
    {
        SchemaType type = Parse(text);
        return type is { Name: "data", IsNullable: true } && LeadsTo(type.TypeName, owner) ? $"ambrosia::boxed<{Plain(type)}>" : Of(type);
    }

    /// <summary>Returns what stands behind a field, so that a value without it is the same everywhere.</summary>
    public static string InitialOf(string text)
    {
        SchemaType type = Parse(text);
        if (type.IsNullable) return "";
        return type.Name switch
        {
            "bool" => " = false",
            "enum" or "union" => "{}",
            "char" or "float32" or "float64" => " = 0",
            _ => ManifestTypes.IsNumber(type.Name) ? " = 0" : "",
        };
    }

    /// <summary>The data types in such an order that what one holds by value stands before it; else that of the manifest.</summary>
    /// <exception cref="ToolMisuse">A type holds itself by value, so that it has no end.</exception>
    public IReadOnlyList<string> Ordered()
    {
        var ordered = new List<string>();
        var begun = new HashSet<string>(StringComparer.Ordinal);
        foreach (string name in _model.Data.Keys) Visit(name, begun, ordered);
        return ordered;
    }

    private void Visit(string name, HashSet<string> begun, List<string> ordered)
    {
        if (ordered.Contains(name)) return;
        if (!begun.Add(name))
            throw new ToolMisuse($"the data type {name} cannot be written in C++", "it holds itself by value, so a value of it has no end",
                "let one of its fields on the way be missing ('?') or a list");
        var needed = new HashSet<string>(StringComparer.Ordinal);
        foreach (FieldRow field in _model.Data[name])
        {
            SchemaType type = Parse(field.Type);
            if (type is { Name: "data", IsNullable: true } && LeadsTo(type.TypeName, name)) continue; // boxed
            Collect(type, needed, evenIfMissing: true);
        }
        foreach (string each in needed.Where(_model.Data.ContainsKey)) Visit(each, begun, ordered);
        ordered.Add(name);
    }

    /// <summary>Collects what is held by value. Lists, maps and unions hold their contents elsewhere.</summary>
    private static void Collect(SchemaType type, HashSet<string> held, bool evenIfMissing)
    {
        if (type.IsNullable && !evenIfMissing) return;
        if (type.Name == "data") held.Add(type.TypeName);
        if (type.Name == "tuple")
            foreach (SchemaType inner in type.Inner) Collect(inner, held, evenIfMissing);
    }

    private bool LeadsTo(string from, string to)
    {
        var seen = new HashSet<string>(StringComparer.Ordinal);
        var open = new Stack<string>([from]);
        while (open.TryPop(out string? name))
        {
            if (name == to) return true;
            if (!seen.Add(name) || !_holds.TryGetValue(name, out HashSet<string>? held)) continue;
            foreach (string each in held) open.Push(each);
        }
        return false;
    }

    private static SchemaType Parse(string text) => SchemaType.Parse(text) ?? throw new FormatException($"'{text}' is no type");

    private static string Plain(SchemaType type) => type.Name switch
    {
        "bool" => "bool",
        "float32" => "float",
        "float64" => "double",
        "char" => "char16_t",
        "text" => "std::string",
        "time" => "ambrosia::time_of_day",
        "list" => $"std::vector<{Of(type.Inner[0])}>",
        "map" => $"ambrosia::ordered_map<{Of(type.Inner[0])}, {Of(type.Inner[1])}>",
        "tuple" => $"std::tuple<{string.Join(", ", type.Inner.Select(Of))}>",
        "enum" or "data" or "union" => CppNames.Qualified(type.TypeName),
        _ when ManifestTypes.IsNumber(type.Name) => $"std::{type.Name}_t",
        _ => $"ambrosia::{type.Name}", // bytes, guid, decimal and the others that C++ does not have
    };
}
