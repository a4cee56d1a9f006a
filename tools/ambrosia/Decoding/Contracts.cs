using System.Globalization;
using System.Text.Json;
using Ambrosia.Protocol;

namespace Ambrosia.Tools;

/// <summary>
/// What contract manifests (<c>*.contract.json</c>) say of methods and data types. Empty where none is given: everything
/// is then shown by number.
/// </summary>
internal sealed class Contracts
{
    private const int Format = 1;
    private const string Extension = ".contract.json";

    private readonly Dictionary<uint, List<ContractMethod>> _methods = [];
    private readonly Dictionary<string, IReadOnlyList<ContractField>> _data = [];

    /// <summary>Manifests that were read.</summary>
    public int Count { get; private set; }

    public IEnumerable<ContractMethod> Methods => _methods.Values.SelectMany(static each => each);

    /// <summary>Reads the manifests at these places: files, or directories with such files.</summary>
    /// <exception cref="ToolMisuse">There is none, or it is no manifest.</exception>
    public static Contracts Load(IEnumerable<string> places)
    {
        var contracts = new Contracts();
        foreach (string place in places)
            foreach (string file in FilesOf(place)) contracts.Read(file);
        return contracts;
    }

    /// <summary>Methods with this id: of different contracts there may be several, since ids are given by contract.</summary>
    public IReadOnlyList<ContractMethod> MethodsOf(uint id) => _methods.TryGetValue(id, out List<ContractMethod>? found) ? found : [];

    /// <summary>Fields of a data type; null: not in any manifest.</summary>
    public IReadOnlyList<ContractField>? FieldsOf(string dataType) => _data.GetValueOrDefault(dataType);

    /// <summary>Ids of the method that a user names: <c>Method</c>, <c>Interface.Method</c>, or an id.</summary>
    /// <exception cref="ToolMisuse">No manifest has it.</exception>
    public IReadOnlySet<uint> IdsOf(string name)
    {
        if (uint.TryParse(name, NumberStyles.None, CultureInfo.InvariantCulture, out uint id)) return new HashSet<uint> { id };
        if (name.StartsWith("0x", StringComparison.Ordinal)
            && uint.TryParse(name.AsSpan(2), NumberStyles.HexNumber, CultureInfo.InvariantCulture, out id)) return new HashSet<uint> { id };
        var ids = Methods.Where(method => method.Name == name || method.ToString() == name).Select(static method => method.Id).ToHashSet();
        if (ids.Count > 0) return ids;
        int dot = name.LastIndexOf('.');
        if (Count == 0 && dot > 0) return new HashSet<uint> { MethodIds.Of(name[..dot], name[(dot + 1)..]) };
        throw Count == 0
            ? new ToolMisuse($"the method '{name}' cannot be found by this name alone", "a log holds ids, not names",
                "give --contract, or the method as Interface.Method or by its id")
            : new ToolMisuse($"there is no method '{name}' in the contracts given", "",
                $"they have: {string.Join(", ", Methods.Select(static method => method.ToString()).Distinct().Order(StringComparer.Ordinal))}");
    }

    private static IEnumerable<string> FilesOf(string place)
    {
        const string mend = "give a *.contract.json, which stands beside the app's assembly, or the directory that it is in";
        if (File.Exists(place)) return [place];
        if (!Directory.Exists(place)) throw new ToolMisuse($"'{place}' of --contract is not there", "", mend);
        string[] files = [.. Directory.EnumerateFiles(place, "*" + Extension).Order(StringComparer.Ordinal)];
        return files.Length > 0 ? files : throw new ToolMisuse($"'{place}' of --contract holds no *{Extension}", "", mend);
    }

    private void Read(string file)
    {
        try
        {
            using JsonDocument json = JsonDocument.Parse(File.ReadAllBytes(file));
            JsonElement root = json.RootElement;
            int format = root.GetProperty("format").GetInt32();
            if (format != Format)
                throw new ToolMisuse($"'{file}' is a contract manifest of format {format}", $"this tool knows format {Format}",
                    "use the tool of the version that made it");
            foreach (JsonElement contract in root.GetProperty("contracts").EnumerateArray()) ReadContract(contract);
            foreach (JsonElement data in root.GetProperty("data").EnumerateArray())
                _data[Text(data, "name")] = [.. data.GetProperty("fields").EnumerateArray().Select(FieldOf)];
            Count++;
        }
        catch (Exception e) when (e is JsonException or InvalidOperationException or KeyNotFoundException or FormatException)
        {
            throw new ToolMisuse($"'{file}' is no contract manifest", e.Message.TrimEnd('.'),
                "build the app again: its build writes the manifest beside its assembly");
        }
    }

    private void ReadContract(JsonElement contract)
    {
        string name = Text(contract, "name");
        foreach (JsonElement each in contract.GetProperty("methods").EnumerateArray())
        {
            var method = new ContractMethod(
                name, Text(each, "name"), each.GetProperty("id").GetUInt32(), Flag(each, "impulse"), Flag(each, "raw"),
                [.. each.GetProperty("parameters").EnumerateArray().Select(FieldOf)],
                each.TryGetProperty("result", out JsonElement result) ? TypeOf(result) : null, Flag(each, "rawResult"));
            if (!_methods.TryGetValue(method.Id, out List<ContractMethod>? same)) _methods.Add(method.Id, same = []);
            if (!same.Exists(other => other.Contract == method.Contract && other.Name == method.Name)) same.Add(method);
        }
    }

    private static ContractField FieldOf(JsonElement field) =>
        new(Text(field, "name"), field.TryGetProperty("number", out JsonElement number) ? number.GetUInt32() : null,
            TypeOf(field.GetProperty("type")));

    private static SchemaType TypeOf(JsonElement type)
    {
        string text = type.GetString() ?? throw new FormatException("a type that is null");
        return SchemaType.Parse(text) ?? throw new FormatException($"'{text}' is no type");
    }

    private static string Text(JsonElement from, string name) =>
        from.GetProperty(name).GetString() ?? throw new FormatException($"{name} is null");

    private static bool Flag(JsonElement from, string name) => from.TryGetProperty(name, out JsonElement flag) && flag.GetBoolean();
}
