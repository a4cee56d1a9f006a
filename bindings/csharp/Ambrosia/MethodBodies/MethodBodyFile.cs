using System.Text.Json;

namespace Ambrosia.MethodBodies;

/// <summary>
/// Writes and reads <c>&lt;assembly&gt;.suspend.json</c>: the bodies of an assembly, written after its compilation. By this file a
/// checkpoint is checked against a new build without loading code, and the app need not read its own IL when it starts.
/// </summary>
internal static class MethodBodyFile
{
    internal const string Suffix = ".suspend.json";
    private const int Format = 1;
    private static readonly JsonWriterOptions s_options = new()
    {
        Indented = true, NewLine = "\n", Encoder = System.Text.Encodings.Web.JavaScriptEncoder.UnsafeRelaxedJsonEscaping
    };

    /// <param name="mvid">The module version id of the build that the rows are of.</param>
    internal static void Write(Stream to, Guid mvid, IEnumerable<MethodBodyRow> rows)
    {
        using var json = new Utf8JsonWriter(to, s_options);
        json.WriteStartObject();
        json.WriteNumber("format", Format);
        json.WriteString("mvid", mvid);
        json.WriteStartArray("methods");
        foreach (MethodBodyRow row in rows) Write(json, row);
        json.WriteEndArray();
        json.WriteEndObject();
    }

    /// <summary>Reads the rows; null when the file is of another build, or of another version of its format.</summary>
    /// <exception cref="JsonException">It is not JSON, or not of this form.</exception>
    /// <param name="mvid">The module version id of the build that is asked for; null: whichever it is.</param>
    internal static List<MethodBodyRow>? Read(ReadOnlyMemory<byte> json, Guid? mvid)
    {
        try
        {
            using JsonDocument document = JsonDocument.Parse(json);
            JsonElement root = document.RootElement;
            if (root.GetProperty("format").GetInt32() != Format || (mvid is not null && root.GetProperty("mvid").GetGuid() != mvid))
                return null;
            return [.. root.GetProperty("methods").EnumerateArray().Select(ReadRow)];
        }
        catch (Exception e) when (e is KeyNotFoundException or InvalidOperationException or FormatException)
        {
            throw new JsonException($"another form: {e.Message}", e);
        }
    }

    private static void Write(Utf8JsonWriter json, MethodBodyRow row)
    {
        json.WriteStartObject();
        json.WriteString("id", row.Id);
        json.WriteString("il", row.Il);
        json.WriteString("source", row.SourceHash);
        if (row.FormerOf is not null) json.WriteString("formerOf", row.FormerOf);
        json.WriteStartArray("types");
        foreach (OwnedType type in row.Types) Write(json, type);
        json.WriteEndArray();
        json.WriteStartArray("functions");
        foreach (OwnedFunction function in row.Functions)
        {
            json.WriteStartObject();
            json.WriteString("type", function.Type);
            json.WriteString("name", function.Name);
            json.WriteString("role", function.Role);
            json.WriteEndObject();
        }
        json.WriteEndArray();
        json.WriteEndObject();
    }

    private static void Write(Utf8JsonWriter json, OwnedType type)
    {
        json.WriteStartObject();
        json.WriteString("name", type.Name);
        json.WriteString("role", type.Role);
        json.WriteStartArray("layout");
        foreach (string field in type.Layout) json.WriteStringValue(field);
        json.WriteEndArray();
        json.WriteStartArray("sites");
        foreach (AwaitSite site in type.Sites)
        {
            json.WriteStartObject();
            json.WriteNumber("state", site.State);
            json.WriteString("file", site.File);
            json.WriteNumber("line", site.Line);
            json.WriteString("text", site.Text);
            json.WriteEndObject();
        }
        json.WriteEndArray();
        json.WriteEndObject();
    }

    private static MethodBodyRow ReadRow(JsonElement row)
    {
        string id = Text(row, "id");
        return new MethodBodyRow(
            id, CSharpNames.Signature(id), Text(row, "il"), Text(row, "source"),
            [.. row.GetProperty("types").EnumerateArray().Select(ReadType)],
            [.. row.GetProperty("functions").EnumerateArray()
                .Select(static each => new OwnedFunction(Text(each, "type"), Text(each, "name"), Text(each, "role")))])
        {
            FormerOf = row.TryGetProperty("formerOf", out JsonElement former) ? former.GetString() : null,
        };
    }

    private static OwnedType ReadType(JsonElement type) => new(
        Text(type, "name"), Text(type, "role"),
        [.. type.GetProperty("layout").EnumerateArray().Select(static each => each.GetString() ?? "")],
        [.. type.GetProperty("sites").EnumerateArray().Select(static each =>
            new AwaitSite(each.GetProperty("state").GetInt32(), Text(each, "file"), each.GetProperty("line").GetInt32(),
                Text(each, "text")))]);

    private static string Text(JsonElement element, string name) => element.GetProperty(name).GetString() ?? "";
}
