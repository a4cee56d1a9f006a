using System.Buffers;
using System.Text;
using System.Text.Encodings.Web;
using System.Text.Json;
using System.Text.Json.Nodes;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Inspection.Decoding;
using Ambrosia.Inspection.Texts;
using Ambrosia.Protocol;

namespace Ambrosia.Inspection.Debugging;

/// <summary>
/// A query as a person writes it, <c>NAME(ARGS)</c> with arguments as JSON in their order or by their names, for the app; and its answer as
/// JSON. It knows the method by the manifest that the app's build has stated.
/// </summary>
internal sealed class QueryCommand
{
    private const int Offered = 2;
    private const string Form = "write NAME(ARGS), like Seen([\"a\"]) or Seen(ids: [\"a\"])";

    private static readonly JsonWriterOptions s_json = new() { Encoder = JavaScriptEncoder.UnsafeRelaxedJsonEscaping };
    private static readonly JsonReaderOptions s_arguments = new() { AllowMultipleValues = true };

    private readonly ContractManifests _contracts;
    private readonly ContractMethod _method;

    private QueryCommand(ContractManifests contracts, ContractMethod method, ReadOnlyMemory<byte> arguments)
    {
        (_contracts, _method, Arguments) = (contracts, method, arguments);
    }

    public uint Method => _method.Id;

    /// <summary>The arguments as they travel (protocol P4.1).</summary>
    public ReadOnlyMemory<byte> Arguments { get; }

    /// <summary>Reads a query.</summary>
    /// <exception cref="MisuseException">There is no such query, or an argument is none of its type.</exception>
    public static QueryCommand Parse(string text, ContractManifests contracts)
    {
        int open = text.IndexOf('(');
        if (text.Length == 0 || (open >= 0 && !text.EndsWith(')'))) throw new MisuseException($"'{text}' is no query", "", Form);
        ContractMethod method = Find(open < 0 ? text : text[..open].TrimEnd(), contracts);
        JsonElement?[] given = ArgumentsOf(open < 0 ? "" : text[(open + 1)..^1], method);
        return new QueryCommand(contracts, method, Encode(method, given, contracts));
    }

    /// <summary>Returns the value that the app has answered, as JSON.</summary>
    public string TextOf(ReadOnlySpan<byte> value)
    {
        if (_method.IsResultRaw) return TextOf(ValueJson.OfBytes(value));
        if (value.IsEmpty) return "";
        var from = new CborReader(value, lenient: true);
        return TextOf(new ValueJson(_contracts).Next(ref from, _method.Result));
    }

    private static string TextOf(JsonNode? answer)
    {
        if (answer is null) return "null";
        var text = new ArrayBufferWriter<byte>();
        using (var to = new Utf8JsonWriter(text, s_json)) answer.WriteTo(to);
        return Encoding.UTF8.GetString(text.WrittenSpan);
    }

    private static ContractMethod Find(string name, ContractManifests contracts)
    {
        ContractMethod[] queries = [.. contracts.Methods.Where(static each => each.IsQuery)];
        ContractMethod[] named = [.. queries.Where(each => each.Name == name || $"{each}" == name)];
        if (named is [var only]) return only;
        if (named.Length > 1)
            throw new MisuseException(
                $"several contracts have a query '{name}'", "", $"write {string.Join(" or ", named.Select(static each => $"{each}"))}");
        bool isMethod = contracts.Methods.Any(each => each.Name == name || $"{each}" == name);
        string near = string.Join(" and ", NearestNames.Of(name, queries.Select(static each => $"{each}"), Offered));
        throw new MisuseException(isMethod ? $"'{name}' is no query" : $"there is no query '{name}'",
            isMethod ? "it is executed by the log alone: what is no query may change the state" : "",
            near.Length > 0 ? $"the nearest are {near}" : "the contracts of this log have no queries");
    }

    /// <summary>Reads the arguments: a JSON value each, with its name in front or not.</summary>
    private static JsonElement?[] ArgumentsOf(string text, ContractMethod method)
    {
        var given = new JsonElement?[method.Parameters.Count];
        byte[] bytes = Encoding.UTF8.GetBytes(text);
        int at = 0;
        for (int position = 0; !IsAtEnd(bytes, ref at); position++)
        {
            int index = TakeName(bytes, ref at) is { } name ? IndexOf(name, method) : position;
            if (index >= given.Length)
                throw new MisuseException($"{method} takes {given.Length} arguments", "more were given", SignatureOf(method));
            if (given[index] is not null)
                throw new MisuseException($"{method.Parameters[index].Name} of {method} was given twice", "", SignatureOf(method));
            given[index] = TakeValue(bytes, ref at, method.Parameters[index].Name);
            if (IsAtEnd(bytes, ref at)) break;
            if (bytes[at++] != ',')
                throw new MisuseException($"the arguments of {method} are not understood", "a comma stands between two", Form);
        }
        return given;
    }

    private static bool IsAtEnd(byte[] bytes, ref int at)
    {
        while (at < bytes.Length && bytes[at] is (byte)' ' or (byte)'\t') at++;
        return at == bytes.Length;
    }

    /// <summary>Takes a name and its colon; null: a value begins.</summary>
    private static string? TakeName(byte[] bytes, ref int at)
    {
        int end = at;
        while (end < bytes.Length && (char.IsAsciiLetterOrDigit((char)bytes[end]) || bytes[end] == (byte)'_')) end++;
        int colon = end;
        while (colon < bytes.Length && bytes[colon] == (byte)' ') colon++;
        if (end == at || colon == bytes.Length || bytes[colon] != (byte)':') return null;
        string name = Encoding.UTF8.GetString(bytes, at, end - at);
        at = colon + 1;
        return name;
    }

    private static int IndexOf(string name, ContractMethod method)
    {
        for (int i = 0; i < method.Parameters.Count; i++)
            if (method.Parameters[i].Name == name) return i;
        throw new MisuseException($"{method} has no argument '{name}'", "", SignatureOf(method));
    }

    private static JsonElement TakeValue(byte[] bytes, ref int at, string name)
    {
        try
        {
            var reader = new Utf8JsonReader(bytes.AsSpan(at), s_arguments);
            JsonElement value = JsonElement.ParseValue(ref reader);
            at += (int)reader.BytesConsumed;
            return value;
        }
        catch (JsonException)
        {
            throw new MisuseException(
                $"{name} is no JSON", $"it begins with {Encoding.UTF8.GetString(bytes.AsSpan(at))}", "texts stand in quotes");
        }
    }

    /// <summary>Encodes what is given. Whoever is called gives those that may be left out at the end their defaults.</summary>
    private static byte[] Encode(ContractMethod method, JsonElement?[] given, ContractManifests contracts)
    {
        int count = given.Length;
        while (count > 0 && given[count - 1] is null && method.Parameters[count - 1].IsOptional) count--;
        for (int i = 0; i < count; i++)
            if (given[i] is null)
                throw new MisuseException($"{method.Parameters[i].Name} of {method} is missing", "", SignatureOf(method));
        if (method.IsRaw && given is [{ } raw]) return ValueEncoder.Raw(raw, method.Parameters[0].Type, method.Parameters[0].Name);
        var encoder = new ValueEncoder(contracts);
        var bytes = new ArrayBufferWriter<byte>();
        var to = new CborWriter(bytes);
        for (int i = 0; i < count; i++) encoder.Write(ref to, given[i]!.Value, method.Parameters[i].Type, method.Parameters[i].Name);
        to.Flush();
        return bytes.WrittenSpan.ToArray();
    }

    private static string SignatureOf(ContractMethod method) => $"it is {method}({string.Join(", ",
        method.Parameters.Select(static each => $"{each.Name}: {each.Type.Text}{(each.IsOptional ? ", may be left out" : "")}"))})";
}
