using System.Text.Json;

namespace Ambrosia.Builds;

/// <summary>States of a handler what executing it may execute.</summary>
internal sealed record BuiltMethod(uint Id, string Name, string Hash);

/// <summary>
/// Says what a build is (docs/contract.md C4): its name, and hashes of what its handlers may execute. It is written beside the
/// assembly, with the ids of all assemblies that it is true of, and stated to the coordinator.
/// </summary>
internal sealed record BuildDocument(
    string Build, string Outside, string First, string Resumed, IReadOnlyList<BuiltMethod> Methods, IReadOnlyList<BuildFileId> Files)
{
    internal const string Suffix = ".build.json";

    /// <summary>The longest document that is stated (C4.2).</summary>
    internal const int BytesMax = 4 << 20;

    private const int Format = 1;
    private static readonly JsonWriterOptions s_options = new()
    {
        Indented = true, NewLine = "\n", Encoder = System.Text.Encodings.Web.JavaScriptEncoder.UnsafeRelaxedJsonEscaping
    };

    /// <summary>
    /// Returns the document. One that would be too long names no methods: any other build counts as one that changes everything.
    /// </summary>
    internal byte[] ToJson()
    {
        byte[] json = Write(this);
        return json.Length <= BytesMax ? json : Write(this with { Outside = Build[..16], First = "", Resumed = "", Methods = [] });
    }

    /// <summary>
    /// Returns the name of the build in a document that is true of these files; null when it is of others, or of another format.
    /// </summary>
    /// <exception cref="JsonException">It is not JSON, or not of this form.</exception>
    internal static string? BuildOf(ReadOnlyMemory<byte> json, IReadOnlyList<BuildFileId> files)
    {
        try
        {
            using JsonDocument document = JsonDocument.Parse(json);
            JsonElement root = document.RootElement;
            if (root.GetProperty("format").GetInt32() != Format) return null;
            IEnumerable<BuildFileId> stated = root.GetProperty("assemblies").EnumerateArray()
                .Select(static each => new BuildFileId(
                    each.GetProperty("name").GetString() ?? "", each.GetProperty("mvid").GetGuid(),
                    each.GetProperty("metadataBytes").GetInt32()));
            return stated.SequenceEqual(files) ? root.GetProperty("build").GetString() : null;
        }
        catch (Exception e) when (e is KeyNotFoundException or InvalidOperationException or FormatException)
        {
            throw new JsonException($"another form: {e.Message}", e);
        }
    }

    private static byte[] Write(BuildDocument document)
    {
        using var to = new MemoryStream();
        using (var json = new Utf8JsonWriter(to, s_options))
        {
            json.WriteStartObject();
            json.WriteNumber("format", Format);
            json.WriteString("build", document.Build);
            json.WriteString("outside", document.Outside);
            if (document.First.Length > 0) json.WriteString("first", document.First);
            if (document.Resumed.Length > 0) json.WriteString("resumed", document.Resumed);
            json.WriteStartArray("methods");
            foreach (BuiltMethod method in document.Methods)
            {
                json.WriteStartObject();
                json.WriteNumber("id", method.Id);
                json.WriteString("name", method.Name);
                json.WriteString("hash", method.Hash);
                json.WriteEndObject();
            }
            json.WriteEndArray();
            json.WriteStartArray("assemblies");
            foreach (BuildFileId file in document.Files)
            {
                json.WriteStartObject();
                json.WriteString("name", file.Name);
                json.WriteString("mvid", file.Mvid);
                json.WriteNumber("metadataBytes", file.MetadataBytes);
                json.WriteEndObject();
            }
            json.WriteEndArray();
            json.WriteEndObject();
        }
        return to.ToArray();
    }
}

/// <summary>Tells a file of a build from every other compilation of it.</summary>
/// <param name="Name">Name of the file.</param>
internal readonly record struct BuildFileId(string Name, Guid Mvid, int MetadataBytes)
{
    /// <exception cref="BadImageFormatException">It says that it is an assembly, and is broken.</exception>
    internal static IReadOnlyList<BuildFileId> Of(IEnumerable<string> paths) =>
        [.. paths.Select(AppAssembly.IdOf).OrderBy(static file => file.Name, StringComparer.Ordinal)];
}
