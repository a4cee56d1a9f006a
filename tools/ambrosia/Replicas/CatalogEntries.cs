using System.Text.Json;
using System.Text.Json.Nodes;
using Ambrosia.Tools.Output;

namespace Ambrosia.Tools.Replicas;

/// <summary>Reads the entries of a catalog: where the logs of its instances are. It only reads.</summary>
internal static class CatalogEntries
{
    /// <summary>Returns the absolute path of a catalog's directory.</summary>
    /// <exception cref="ToolMisuse">It is not there.</exception>
    public static string Require(string directory)
    {
        string catalog = Path.GetFullPath(directory);
        return Directory.Exists(catalog) ? catalog : throw new ToolMisuse($"'{catalog}' is not there", "a catalog is a directory",
            "give the directory that the coordinators' --catalog names");
    }

    /// <summary>Returns each instance with its log, by its entry of the highest epoch (protocol P8).</summary>
    public static IReadOnlyList<(string Instance, string Log)> Read(string catalog)
    {
        var newest = new SortedDictionary<string, (ulong Epoch, string Log)>(StringComparer.Ordinal);
        foreach (string path in Directory.EnumerateFiles(catalog))
        {
            string[] name = Path.GetFileName(path).Split('.');
            if (name.Length != 2 || !ulong.TryParse(name[1], out ulong epoch)
                || (newest.TryGetValue(name[0], out var known) && known.Epoch >= epoch)) continue;
            if (LogOf(path) is { } log) newest[name[0]] = (epoch, log);
        }
        return [.. newest.Select(static pair => (pair.Key, pair.Value.Log))];
    }

    private static string? LogOf(string path)
    {
        try
        {
            return (string?)JsonNode.Parse(File.ReadAllText(path))?["log"];
        }
        catch (Exception e) when (e is JsonException or FileNotFoundException or InvalidOperationException)
        {
            return null; // it is being replaced, or is no entry
        }
    }
}
