using System.Text.Json;
using Ambrosia.Inspection.Decoding;

namespace Ambrosia.Tools.Contracts;

/// <summary>
/// Holds what one or several manifests of a build offer (docs/contract.md C1.2), in the form in which builds are compared: everything by
/// the name or number that decides what a caller or a log means. Nothing changes it once it is read.
/// </summary>
internal sealed class ContractModel
{
    private readonly List<ContractRow> _contracts = [];

    public IReadOnlyList<ContractRow> Contracts => _contracts;

    public Dictionary<string, IReadOnlyList<FieldRow>> Data { get; } = new(StringComparer.Ordinal);

    public Dictionary<string, EnumRow> Enums { get; } = new(StringComparer.Ordinal);

    public Dictionary<string, IReadOnlyList<CaseRow>> Unions { get; } = new(StringComparer.Ordinal);

    /// <summary>Adds what a manifest holds. Where two of a build state the same type or contract, the first counts.</summary>
    /// <exception cref="FormatException">A text is null, or is no type or number.</exception>
    /// <exception cref="InvalidOperationException">A value is of another kind of JSON.</exception>
    /// <exception cref="KeyNotFoundException">A member is missing.</exception>
    public void Add(JsonElement manifest)
    {
        foreach (JsonElement each in manifest.GetProperty("contracts").EnumerateArray())
        {
            ContractRow row = ContractRow.Read(each);
            if (!_contracts.Exists(other => other.FullName == row.FullName)) _contracts.Add(row);
        }
        foreach (JsonElement each in manifest.GetProperty("data").EnumerateArray())
            Data.TryAdd(Text(each, "name"), [.. each.GetProperty("fields").EnumerateArray().Select(FieldRow.Read)]);
        foreach (JsonElement each in List(manifest, "enums")) Enums.TryAdd(Text(each, "name"), EnumRow.Read(each));
        foreach (JsonElement each in List(manifest, "unions"))
            Unions.TryAdd(Text(each, "name"), [.. each.GetProperty("cases").EnumerateArray().Select(CaseRow.Read)]);
    }

    internal static string Text(JsonElement from, string name) =>
        from.GetProperty(name).GetString() ?? throw new FormatException($"'{name}' is null");

    internal static bool Flag(JsonElement from, string name) => from.TryGetProperty(name, out JsonElement flag) && flag.GetBoolean();

    internal static string TypeOf(JsonElement from, string name)
    {
        string text = Text(from, name);
        return SchemaType.Parse(text) is null ? throw new FormatException($"'{text}' is no type") : text;
    }

    /// <summary>Manifests from before there were enums and unions have no such lists.</summary>
    private static IEnumerable<JsonElement> List(JsonElement from, string name) =>
        from.TryGetProperty(name, out JsonElement list) ? list.EnumerateArray() : [];
}

/// <summary>It describes a contract of a manifest.</summary>
internal sealed record ContractRow(string Name, string Namespace, IReadOnlyList<MethodRow> Methods)
{
    public string FullName => Namespace.Length == 0 ? Name : $"{Namespace}.{Name}";

    public static ContractRow Read(JsonElement from) => new(
        ContractModel.Text(from, "name"), ContractModel.Text(from, "namespace"),
        [.. from.GetProperty("methods").EnumerateArray().Select(MethodRow.Read)]);
}

/// <summary>It describes a method of a contract.</summary>
/// <param name="Result">Its type as the manifest writes it; null: there is none.</param>
internal sealed record MethodRow(
    string Name, uint Id, bool IsImpulse, bool IsQuery, bool IsRaw, bool IsResultRaw, string? Result,
    IReadOnlyList<ParameterRow> Parameters)
{
    /// <summary>Ids from here on are computed from the names; those below are given (protocol P4.5).</summary>
    public const uint ComputedMin = 0x80000000;

    /// <summary>It must be equal for a method to be taken for another one under a new name.</summary>
    public string Signature =>
        $"{string.Join(',', Parameters.Select(static each => each.Type))}:{Result}:{IsImpulse}{IsQuery}{IsRaw}{IsResultRaw}";

    public static MethodRow Read(JsonElement from) => new(
        ContractModel.Text(from, "name"), from.GetProperty("id").GetUInt32(), ContractModel.Flag(from, "impulse"),
        ContractModel.Flag(from, "query"), ContractModel.Flag(from, "raw"), ContractModel.Flag(from, "rawResult"),
        from.TryGetProperty("result", out _) ? ContractModel.TypeOf(from, "result") : null,
        [.. from.GetProperty("parameters").EnumerateArray().Select(ParameterRow.Read)]);
}

/// <summary>It describes a parameter of a method.</summary>
/// <param name="Default">The CBOR of its default in hexadecimal; null: it states none.</param>
internal sealed record ParameterRow(string Name, string Type, bool IsOptional, string? Default)
{
    public bool MayBeMissing => IsOptional || Default is not null;

    public static ParameterRow Read(JsonElement from) => new(
        ContractModel.Text(from, "name"), ContractModel.TypeOf(from, "type"), ContractModel.Flag(from, "optional"),
        from.TryGetProperty("default", out _) ? ContractModel.Text(from, "default") : null);
}

/// <summary>It describes a field of a data type.</summary>
/// <param name="Number">Its key on the wire; null: its name is the key.</param>
internal sealed record FieldRow(string Name, uint? Number, string Type)
{
    /// <summary>It names the field as its key does on the wire and in the log.</summary>
    public string Key => Number is { } number ? $"{number}" : $"'{Name}'";

    public bool IsOptional => Type.EndsWith('?');

    public static FieldRow Read(JsonElement from) => new(
        ContractModel.Text(from, "name"), from.TryGetProperty("number", out JsonElement number) ? number.GetUInt32() : null,
        ContractModel.TypeOf(from, "type"));
}

/// <summary>It describes an enum. Values are kept as the text of their number, which is exact for all eight types.</summary>
internal sealed record EnumRow(string Type, IReadOnlyList<(string Name, string Value)> Members)
{
    public static EnumRow Read(JsonElement from) => new(
        ContractModel.Text(from, "type"),
        [.. from.GetProperty("members").EnumerateArray()
            .Select(static each => (ContractModel.Text(each, "name"), each.GetProperty("value").GetRawText()))]);
}

/// <summary>It describes a case of a union.</summary>
internal sealed record CaseRow(uint Number, string Type)
{
    public static CaseRow Read(JsonElement from) => new(from.GetProperty("number").GetUInt32(), ContractModel.TypeOf(from, "type"));
}
