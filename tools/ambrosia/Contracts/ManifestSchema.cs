using System.Text.Json;
using Ambrosia.Inspection.Decoding;

namespace Ambrosia.Tools.Contracts;

/// <summary>
/// Finds where a manifest has not the members of docs/contract.md C1.2: one that is missing, or of another kind. Members that it does not
/// know are passed over, as every reader does (C1.1).
/// </summary>
internal sealed class ManifestSchema
{
    private enum Kind { Text, Type, UInt32, Integer, Flag, Name }

    private readonly List<ContractBreak> _problems = [];

    public static IReadOnlyList<ContractBreak> ProblemsOf(JsonElement manifest)
    {
        var schema = new ManifestSchema();
        schema.Member(manifest, "manifest", "assembly", Kind.Text);
        schema.Each(manifest, "manifest", "contracts", schema.Contract);
        schema.Each(manifest, "manifest", "data", (type, at) => schema.Named(type, at, "fields", schema.Field));
        schema.Each(manifest, "manifest", "enums", schema.Enum);
        schema.Each(manifest, "manifest", "unions", (type, at) => schema.Named(type, at, "cases", schema.Case));
        return schema._problems;
    }

    private void Contract(JsonElement contract, string at)
    {
        Member(contract, at, "name", Kind.Name);
        Member(contract, at, "namespace", Kind.Text);
        Each(contract, at, "methods", (method, place) =>
        {
            Member(method, place, "name", Kind.Name);
            Member(method, place, "id", Kind.UInt32);
            foreach (string flag in new[] { "impulse", "query", "raw", "rawResult" })
                Member(method, place, flag, Kind.Flag, isNeeded: false);
            Member(method, place, "result", Kind.Type, isNeeded: false);
            Each(method, place, "parameters", Parameter);
        });
    }

    private void Parameter(JsonElement parameter, string at)
    {
        Member(parameter, at, "name", Kind.Name);
        Member(parameter, at, "type", Kind.Type);
        Member(parameter, at, "optional", Kind.Flag, isNeeded: false);
        Member(parameter, at, "default", Kind.Text, isNeeded: false);
    }

    private void Field(JsonElement field, string at)
    {
        Member(field, at, "name", Kind.Name);
        Member(field, at, "number", Kind.UInt32, isNeeded: false);
        Member(field, at, "type", Kind.Type);
    }

    private void Named(JsonElement type, string at, string list, Action<JsonElement, string> check)
    {
        Member(type, at, "name", Kind.Name);
        Each(type, at, list, check);
    }

    private void Enum(JsonElement type, string at)
    {
        Member(type, at, "name", Kind.Name);
        Member(type, at, "type", Kind.Text);
        Each(type, at, "members", (member, place) =>
        {
            Member(member, place, "name", Kind.Name);
            Member(member, place, "value", Kind.Integer);
        });
    }

    private void Case(JsonElement each, string at)
    {
        Member(each, at, "number", Kind.UInt32);
        Member(each, at, "type", Kind.Type);
    }

    private void Each(JsonElement from, string at, string name, Action<JsonElement, string> check)
    {
        if (!from.TryGetProperty(name, out JsonElement list) || list.ValueKind != JsonValueKind.Array)
        {
            Add($"{at}.{name}", "there is no such list", $"give '{name}' as a list; it may be empty");
            return;
        }
        int index = 0;
        foreach (JsonElement item in list.EnumerateArray())
        {
            string place = $"{(at == "manifest" ? "" : at + ".")}{name}[{index++}]";
            if (item.ValueKind == JsonValueKind.Object) check(item, place);
            else Add(place, "it is no object", "give an object with the members of docs/contract.md C1.2");
        }
    }

    private void Member(JsonElement from, string at, string name, Kind kind, bool isNeeded = true)
    {
        string place = $"{at}.{name}";
        if (!from.TryGetProperty(name, out JsonElement value))
        {
            if (isNeeded) Add(place, "it is missing", $"give '{name}'");
            return;
        }
        (bool fits, string wanted) = kind switch
        {
            Kind.Text => (value.ValueKind == JsonValueKind.String, "a text"),
            Kind.Name => (value.ValueKind == JsonValueKind.String && value.GetString()!.Length > 0, "a text that is not empty"),
            Kind.Type => (value.ValueKind == JsonValueKind.String && SchemaType.Parse(value.GetString()!) is not null,
                "a type as docs/contract.md C2.1 writes it"),
            Kind.UInt32 => (value.ValueKind == JsonValueKind.Number && value.TryGetUInt32(out _), "an integer from 0 to 4294967295"),
            Kind.Integer => (
                value.ValueKind == JsonValueKind.Number && (value.TryGetInt64(out _) || value.TryGetUInt64(out _)), "an integer of 64 bits"),
            _ => (value.ValueKind == JsonValueKind.True, "true; a flag that does not hold is left out"),
        };
        if (!fits) Add(place, $"it is {Shown(value)}", $"it must be {wanted}");
    }

    private static string Shown(JsonElement value)
    {
        const int CharsMax = 40;
        string text = value.GetRawText();
        return text.Length <= CharsMax ? text : text[..CharsMax] + "…";
    }

    private void Add(string place, string reason, string mend) => _problems.Add(new ContractBreak(place, reason, mend));
}
