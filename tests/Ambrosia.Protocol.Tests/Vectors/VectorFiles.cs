using System.Text.Json.Nodes;

namespace Ambrosia.Protocol.Tests;

/// <summary>The vectors as the build copied them beside the tests.</summary>
internal static class VectorFiles
{
    public static IReadOnlyList<Vector> All { get; } = [.. Directory
        .GetFiles(Path.Combine(AppContext.BaseDirectory, "vectors"), "*.json").Order(StringComparer.Ordinal).SelectMany(Load)];

    private static IEnumerable<Vector> Load(string path)
    {
        foreach (JsonNode? node in JsonNode.Parse(File.ReadAllBytes(path))!.AsArray())
        {
            JsonObject entry = node!.AsObject();
            JsonObject context = entry["context"]?.AsObject() ?? [];
            byte[] bytes = Convert.FromHexString((string)entry["hex"]!);
            if (context["zeros"] is JsonNode zeros) bytes = [.. bytes, .. new byte[(int)zeros]];
            yield return new Vector(
                Path.GetFileNameWithoutExtension(path), (string)entry["name"]!, (string)entry["structure"]!, (string)entry["section"]!,
                bytes, context, entry["expect"]?.AsObject(), (string?)entry["error"], (string?)entry["lsn"]);
        }
    }
}
