using System.Text.Json;
using Ambrosia.Inspection.Decoding;
using Ambrosia.Inspection.Texts;
using Ambrosia.Log.Instances;
using Ambrosia.Tools.Output;

namespace Ambrosia.Tools.Contracts;

/// <summary>
/// Finds the manifests at a place that a user names (a file, the directory of a build, or that of a log) and reads them. A log keeps
/// a manifest of each build that ran on it; of those of one assembly the newest counts.
/// </summary>
internal static class ManifestFiles
{
    private const string Pattern = "*.contract.json", OfBuilds = "build.";
    private const string Mend = "give a *.contract.json, the directory of a build that holds one, or that of a log whose app states its contracts";

    /// <summary>Reads what a place offers, as one build.</summary>
    /// <exception cref="ToolMisuse">Nothing is there, or it is no manifest.</exception>
    public static ContractModel Load(string place)
    {
        var model = new ContractModel();
        var seen = new HashSet<string>(StringComparer.Ordinal);
        foreach (string file in FilesOf(place))
        {
            using JsonDocument json = Parse(file);
            try
            {
                string assembly = ContractModel.Text(json.RootElement, "assembly");
                if (seen.Add(assembly)) model.Add(json.RootElement);
            }
            catch (Exception e) when (e is InvalidOperationException or KeyNotFoundException or FormatException)
            {
                throw new ToolMisuse($"'{file}' is no contract manifest", e.Message.TrimEnd('.'),
                    $"build the app again, or let 'ambrosia contract check {file}' name each place that is wrong");
            }
        }
        return model;
    }

    /// <summary>Returns the JSON of a manifest, whose format is known; nothing else of it has been looked at.</summary>
    /// <exception cref="ToolMisuse">It is not there, no JSON, or of another format.</exception>
    public static JsonDocument Parse(string file)
    {
        if (!File.Exists(file)) throw new ToolMisuse($"'{file}' is {(Directory.Exists(file) ? "a directory" : "not there")}", "", Mend);
        JsonDocument json;
        try
        {
            json = JsonDocument.Parse(GivenFile.Read(file));
        }
        catch (JsonException e)
        {
            throw new ToolMisuse($"'{file}' is damaged", $"it is no JSON: {e.Message.TrimEnd('.')}",
                "take the file from its build again; a manifest is UTF-8 without a byte order mark");
        }
        int? format = FormatOf(json.RootElement);
        if (format == ContractManifests.Format) return json;
        json.Dispose();
        throw format is null
            ? new ToolMisuse($"'{file}' is no contract manifest", "it has no number 'format'", Mend)
            : new ToolMisuse($"'{file}' is a contract manifest of format {format}", $"format {ContractManifests.Format} is known here",
                "use the tool of the version that made it");
    }

    private static int? FormatOf(JsonElement root) =>
        root.ValueKind == JsonValueKind.Object && root.TryGetProperty("format", out JsonElement stated)
        && stated.ValueKind == JsonValueKind.Number && stated.TryGetInt32(out int number) ? number : null;

    private static string[] FilesOf(string place)
    {
        if (File.Exists(place)) return [place];
        if (!Directory.Exists(place)) throw new ToolMisuse($"'{place}' is not there", "", Mend);
        string kept = Path.Combine(place, InstanceDirectory.Contracts);
        IEnumerable<string> files = Directory.Exists(kept) && File.Exists(Path.Combine(place, "instance"))
            ? Directory.EnumerateFiles(kept, "*.json")
                .Where(static file => !Path.GetFileName(file).StartsWith(OfBuilds, StringComparison.Ordinal))
                .OrderByDescending(File.GetLastWriteTimeUtc).ThenBy(static file => file, StringComparer.Ordinal)
            : Directory.EnumerateFiles(place, Pattern).Order(StringComparer.Ordinal);
        string[] found = [.. files];
        return found.Length > 0 ? found : throw new ToolMisuse($"'{place}' holds no contract manifest", "", Mend);
    }
}
