using System.Globalization;
using System.Text.Json;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Inspection.Texts;
using Ambrosia.Log.Files;
using Ambrosia.Log.Instances;
using Ambrosia.Protocol.Runs;

namespace Ambrosia.Inspection.Decoding;

/// <summary>
/// It knows what contract manifests (<c>*.contract.json</c>) say of methods and data types. It is empty where none is given: everything
/// is then shown by number.
/// </summary>
internal sealed class ContractManifests
{
    /// <summary>The only format of manifests that there is.</summary>
    public const int Format = 1;

    private const string Extension = ".contract.json";

    /// <summary>What the methods of builds execute stands beside the manifests under such names (log-format L1.6).</summary>
    private const string OfBuilds = "build.";

    private readonly Dictionary<uint, List<ContractMethod>> _methods = [];
    private readonly Dictionary<string, IReadOnlyList<ContractField>> _data = [];
    private readonly Dictionary<(string Enum, string Number), string> _members = [];
    private readonly Dictionary<(string Union, ulong Number), SchemaType> _cases = [];

    /// <summary>The number of manifests that were read.</summary>
    public int Count { get; private set; }

    public IEnumerable<ContractMethod> Methods => _methods.Values.SelectMany(static each => each);

    /// <summary>Reads manifests: files, or all that stand in a directory; and those that apps have left in a log's directory.</summary>
    /// <param name="log">The log; null: there is none. What cannot be read in its directory is passed over.</param>
    /// <exception cref="MisuseException">There is none at a place, or it is no manifest.</exception>
    public static ContractManifests Load(IEnumerable<string> places, LogLocation? log = null)
    {
        var contracts = new ContractManifests();
        if (log is not null) contracts.ReadAll(log.Files, Path.Combine(log.Directory, InstanceDirectory.Contracts));
        foreach (string place in places)
            foreach (string file in FilesOf(place)) contracts.Read(file, GivenFile.Read(file));
        return contracts;
    }

    /// <summary>Returns the methods with this id. Ids are given by contract, so methods of several contracts may share one.</summary>
    public IReadOnlyList<ContractMethod> MethodsOf(uint id) => _methods.TryGetValue(id, out List<ContractMethod>? found) ? found : [];

    /// <summary>The data types with their fields.</summary>
    public IEnumerable<KeyValuePair<string, IReadOnlyList<ContractField>>> DataTypes => _data;

    /// <summary>Returns the fields of a data type, or null where no manifest has it.</summary>
    public IReadOnlyList<ContractField>? FieldsOf(string dataType) => _data.GetValueOrDefault(dataType);

    /// <summary>Returns the member of an enum with this number, which is decimal text; null where no manifest has one.</summary>
    public string? MemberOf(string enumType, string number) => _members.GetValueOrDefault((enumType, number));

    /// <summary>Returns the number of an enum's member, as decimal text; null where no manifest has it.</summary>
    public string? NumberOf(string enumType, string member) =>
        _members.FirstOrDefault(each => each.Key.Enum == enumType && each.Value == member).Key.Number;

    /// <summary>Returns the numbers of an enum's members, as decimal text.</summary>
    public IEnumerable<string> NumbersOf(string enumType) =>
        _members.Keys.Where(each => each.Enum == enumType).Select(static each => each.Number);

    public IEnumerable<string> MembersOf(string enumType) =>
        _members.Where(each => each.Key.Enum == enumType).Select(static each => each.Value);

    /// <summary>Returns the cases of a union: their numbers and what they hold.</summary>
    public IEnumerable<(ulong Number, SchemaType Data)> CasesOf(string union) =>
        _cases.Where(each => each.Key.Union == union).Select(static each => (each.Key.Number, each.Value));

    /// <summary>Returns the type of a union's case; null where no manifest has it.</summary>
    public SchemaType? CaseOf(string union, ulong number) => _cases.GetValueOrDefault((union, number));

    /// <summary>Returns the ids of the method that a user names: by <c>Method</c>, <c>Interface.Method</c>, or an id.</summary>
    /// <exception cref="MisuseException">No manifest has it.</exception>
    public IReadOnlySet<uint> IdsOf(string name)
    {
        if (TryIdsOf(name) is { } ids) return ids;
        throw Count == 0
            ? new MisuseException($"the method '{name}' cannot be found by this name alone", "a log holds ids, not names",
                "give --contract, or the method as Interface.Method or by its id")
            : new MisuseException($"there is no method '{name}' in the contracts given", "",
                $"they have: {string.Join(", ", Methods.Select(static method => method.ToString()).Distinct().Order(StringComparer.Ordinal))}");
    }

    /// <summary>Returns the ids of the method that a user names as for <see cref="IdsOf"/>; null: no manifest has it.</summary>
    public IReadOnlySet<uint>? TryIdsOf(string name)
    {
        if (uint.TryParse(name, NumberStyles.None, CultureInfo.InvariantCulture, out uint id)) return new HashSet<uint> { id };
        if (name.StartsWith("0x", StringComparison.Ordinal)
            && uint.TryParse(name.AsSpan(2), NumberStyles.HexNumber, CultureInfo.InvariantCulture, out id)) return new HashSet<uint> { id };
        var ids = Methods.Where(method => method.Name == name || method.ToString() == name).Select(static method => method.Id).ToHashSet();
        if (ids.Count > 0) return ids;
        int dot = name.LastIndexOf('.');
        return Count == 0 && dot > 0 ? new HashSet<uint> { MethodIds.Of(name[..dot], name[(dot + 1)..]) } : null;
    }

    private static IEnumerable<string> FilesOf(string place)
    {
        const string mend = "give a *.contract.json, which stands beside the app's assembly, or the directory that it is in";
        if (File.Exists(place)) return [place];
        if (!Directory.Exists(place)) throw new MisuseException($"'{place}' of --contract is not there", "", mend);
        string[] files = [.. Directory.EnumerateFiles(place, "*" + Extension).Order(StringComparer.Ordinal)];
        return files.Length > 0 ? files : throw new MisuseException($"'{place}' of --contract holds no *{Extension}", "", mend);
    }

    private void ReadAll(IFileSystem files, string directory)
    {
        foreach (string name in files.List(directory))
            if (name.EndsWith(".json", StringComparison.Ordinal) && !name.StartsWith(OfBuilds, StringComparison.Ordinal))
                TryRead(files, Path.Combine(directory, name));
    }

    private void TryRead(IFileSystem files, string path)
    {
        try
        {
            Read(path, GivenFile.Read(files, path));
        }
        catch (Exception e) when (e is MisuseException or IOException or UnauthorizedAccessException)
        {
            // It is of a version that is not known here, or damaged: its methods are shown by number.
        }
    }

    private void Read(string file, ReadOnlyMemory<byte> content)
    {
        try
        {
            using JsonDocument json = JsonDocument.Parse(content);
            JsonElement root = json.RootElement;
            int format = root.GetProperty("format").GetInt32();
            if (format != Format)
                throw new MisuseException($"'{file}' is a contract manifest of format {format}", $"format {Format} is known here",
                    "use the tool of the version that made it");
            foreach (JsonElement contract in root.GetProperty("contracts").EnumerateArray()) ReadContract(contract);
            foreach (JsonElement data in root.GetProperty("data").EnumerateArray())
                _data[Text(data, "name")] = [.. data.GetProperty("fields").EnumerateArray().Select(FieldOf)];
            if (root.TryGetProperty("enums", out JsonElement enums))
                foreach (JsonElement type in enums.EnumerateArray()) ReadEnum(type);
            if (root.TryGetProperty("unions", out JsonElement unions))
                foreach (JsonElement type in unions.EnumerateArray()) ReadUnion(type);
            Count++;
        }
        catch (Exception e) when (e is JsonException or InvalidOperationException or KeyNotFoundException or FormatException)
        {
            throw new MisuseException($"'{file}' is no contract manifest", e.Message.TrimEnd('.'),
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
                each.TryGetProperty("result", out JsonElement result) ? TypeOf(result) : null, Flag(each, "rawResult"))
            {
                IsQuery = Flag(each, "query"),
            };
            if (!_methods.TryGetValue(method.Id, out List<ContractMethod>? same)) _methods.Add(method.Id, same = []);
            if (!same.Exists(other => other.Contract == method.Contract && other.Name == method.Name)) same.Add(method);
        }
    }

    /// <summary>Reads the members of an enum. Where several have one number, the first is shown.</summary>
    private void ReadEnum(JsonElement type)
    {
        string name = Text(type, "name");
        foreach (JsonElement member in type.GetProperty("members").EnumerateArray().Reverse())
            _members[(name, member.GetProperty("value").GetRawText())] = Text(member, "name");
    }

    private void ReadUnion(JsonElement type)
    {
        string name = Text(type, "name");
        foreach (JsonElement each in type.GetProperty("cases").EnumerateArray())
            _cases[(name, each.GetProperty("number").GetUInt64())] = TypeOf(each.GetProperty("type"));
    }

    private static ContractField FieldOf(JsonElement field) =>
        new(Text(field, "name"), field.TryGetProperty("number", out JsonElement number) ? number.GetUInt32() : null,
            TypeOf(field.GetProperty("type")))
        {
            IsOptional = Flag(field, "optional"),
        };

    private static SchemaType TypeOf(JsonElement type)
    {
        string text = type.GetString() ?? throw new FormatException("a type that is null");
        return SchemaType.Parse(text) ?? throw new FormatException($"'{text}' is no type");
    }

    private static string Text(JsonElement from, string name) =>
        from.GetProperty(name).GetString() ?? throw new FormatException($"{name} is null");

    private static bool Flag(JsonElement from, string name) => from.TryGetProperty(name, out JsonElement flag) && flag.GetBoolean();
}

/// <summary>It describes a method of a contract as the manifest has it.</summary>
/// <param name="Contract">Name of the interface.</param>
/// <param name="IsRaw">True if the only argument is bytes as they are (protocol P4.2).</param>
/// <param name="Result">The type of the result, or null where there is none.</param>
/// <param name="IsResultRaw">True if the result is bytes as they are.</param>
internal sealed record ContractMethod(
    string Contract, string Name, uint Id, bool IsImpulse, bool IsRaw, IReadOnlyList<ContractField> Parameters, SchemaType? Result,
    bool IsResultRaw)
{
    /// <summary>Callers outside alone call it, and no log has it.</summary>
    public bool IsQuery { get; init; }

    public override string ToString() => $"{Contract}.{Name}";
}

/// <summary>It describes a parameter of a method, or a field of a data type.</summary>
/// <param name="Number">Key of a data type's field on the wire, or null where its name is the key.</param>
internal sealed record ContractField(string Name, uint? Number, SchemaType Type)
{
    /// <summary>It is a parameter that may be left out.</summary>
    public bool IsOptional { get; init; }
}
