using System.Text.Encodings.Web;
using System.Text.Json;

namespace Ambrosia.Perf;

/// <summary>One measurement as JSON under perf/results: figures, and what they were measured with and on.</summary>
/// <param name="Configuration">Of the build; figures of a debug build are kept nowhere.</param>
internal sealed record ResultFile(
    string Command, DateTimeOffset Time, string Commit, string Configuration, string Durability, MachineInfo Machine, object Results)
{
    private static readonly JsonSerializerOptions options = new() { WriteIndented = true, PropertyNamingPolicy = JsonNamingPolicy.CamelCase, Encoder = JavaScriptEncoder.UnsafeRelaxedJsonEscaping };

    /// <returns>The file's path.</returns>
    public string Save(string directory, string name)
    {
        Directory.CreateDirectory(directory);
        string path = Path.Combine(directory, $"{Time:yyyyMMdd-HHmmss}-{name}-{Commit}.json");
        File.WriteAllText(path, JsonSerializer.Serialize(this, options) + "\n");
        return path;
    }
}
