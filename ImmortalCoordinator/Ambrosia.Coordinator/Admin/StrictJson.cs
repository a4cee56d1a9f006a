using System.Text.Json;
using System.Text.Json.Nodes;

namespace Ambrosia.Coordinator.Admin;

/// <summary>
/// Reads JSON that others may have written. An object that has one name twice is refused here: a node takes it, and throws an
/// ArgumentException, for which no caller is prepared, when it is asked for any name. Stateless; any thread.
/// </summary>
internal static class StrictJson
{
    /// <param name="depthMax">The deepest nesting; 0: that of the framework.</param>
    /// <exception cref="JsonException">It is malformed, nested too deep, or has a name twice in one object.</exception>
    public static JsonNode? Parse(ReadOnlySpan<byte> utf8, int depthMax = 0) =>
        JsonNode.Parse(utf8, documentOptions: new JsonDocumentOptions { AllowDuplicateProperties = false, MaxDepth = depthMax });

    /// <summary>Returns the text that a node is; null: it is something else, or not there.</summary>
    public static string? TextOf(JsonNode? node) => node is JsonValue value && value.TryGetValue(out string? text) ? text : null;
}
