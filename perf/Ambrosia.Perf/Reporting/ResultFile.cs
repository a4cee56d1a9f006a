using System.Text.Encodings.Web;
using System.Text.Json;
using System.Text.Json.Serialization;

namespace Ambrosia.Perf;

/// <summary>One measurement as JSON under perf/results: figures, and what they were measured with and on.</summary>
/// <param name="Configuration">Of the build; figures of a debug build are kept nowhere.</param>
internal sealed record ResultFile(
    string Command, DateTimeOffset Time, string Commit, string Configuration, string Durability, MachineInfo Machine, object Results)
{
#if DEBUG
    public const string ThisConfiguration = "Debug";
#else
    public const string ThisConfiguration = "Release";
#endif

    private static readonly JsonSerializerOptions s_options = new()
    {
        WriteIndented = true, PropertyNamingPolicy = JsonNamingPolicy.CamelCase, Encoder = JavaScriptEncoder.UnsafeRelaxedJsonEscaping,
        Converters = { new JsonStringEnumConverter(JsonNamingPolicy.CamelCase) },
    };

    /// <summary>Figures of a debug build mean nothing.</summary>
    [JsonIgnore]
    public bool IsWorthKeeping => Configuration != "Debug";

    public string ToJson() => JsonSerializer.Serialize(this, s_options);

    /// <summary>Writes the file, and beside it the charts.</summary>
    /// <returns>The path of the JSON.</returns>
    public string Save(string directory, string name, IReadOnlyList<Chart> charts)
    {
        Directory.CreateDirectory(directory);
        string stem = Path.Combine(directory, $"{Time:yyyyMMdd-HHmmss}-{name}-{Commit}");
        File.WriteAllText($"{stem}.json", ToJson() + "\n");
        foreach (Chart chart in charts) File.WriteAllText($"{stem}{chart.Suffix}.svg", chart.ToSvg());
        return $"{stem}.json";
    }
}
