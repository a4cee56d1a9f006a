using System.Text.Json;
using System.Text.Json.Nodes;

namespace Ambrosia.Coordinator.Hosting;

/// <summary>
/// Reads JSON that others may have written. A name that stands twice in an object makes it no JSON here: a node takes it, and throws what
/// no caller expects when it is asked for any name. Stateless; any thread.
/// </summary>
internal static class StrictJson
{
    private static readonly JsonDocumentOptions s_strict = new() { AllowDuplicateProperties = false };

    /// <exception cref="JsonException">It is no JSON.</exception>
    public static JsonNode? Parse(ReadOnlySpan<byte> utf8) => JsonNode.Parse(utf8, documentOptions: s_strict);
}
