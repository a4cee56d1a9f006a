using System.Text.Json.Nodes;

namespace Ambrosia.Tools;

/// <summary>What one replica says of itself.</summary>
/// <param name="LagBytes">Log that is durable, as far as any replica knows, and that this one has not executed.</param>
/// <param name="Links">Peer and state.</param>
/// <param name="KeptCalls">Calls that are kept until their receivers have them.</param>
/// <param name="Orphaned">Calls to peers that no link leads to, in words.</param>
internal sealed record ReplicaStatus(
    string Instance, string Replica, string Role, ulong Epoch, ulong Executed, ulong Durable, ulong LagBytes, IReadOnlyList<string> Links, ulong KeptCalls, IReadOnlyList<string> Orphaned)
{
    public static ReplicaStatus Nobody(string instance) => new(instance, "-", "nobody runs", 0, 0, 0, 0, [], 0, []);

    public static ReplicaStatus Of(string instance, JsonObject status)
    {
        JsonNode? log = status["log"];
        JsonArray links = status["links"] as JsonArray ?? [], outboxes = status["outboxes"] as JsonArray ?? [];
        string[] open = [.. links.Where(static l => (string?)l?["state"] == "open").Select(static l => (string?)l?["peer"] ?? "")];
        ulong kept = 0;
        var orphaned = new List<string>();
        bool isPrimary = (string?)status["role"] == "primary";
        foreach (JsonNode? outbox in outboxes)
        {
            ulong calls = Number(outbox, "calls") - Math.Min(Number(outbox, "calls"), Number(outbox, "trimmed"));
            string to = (string?)outbox?["to"] ?? "";
            kept += calls;
            if (isPrimary && calls > 0 && to != instance && !open.Contains(to)) orphaned.Add($"{calls} calls to {to} are kept, and no link leads there");
        }
        return new ReplicaStatus(
            instance, (string?)status["replica"] ?? "", (string?)status["role"] ?? "", Number(status, "epoch"), Number(log, "executed"), Number(log, "durable"), 0,
            [.. links.Select(static l => $"{(string?)l?["peer"]}:{(string?)l?["state"]}")], kept, orphaned);
    }

    private static ulong Number(JsonNode? of, string name) => of?[name] is JsonValue value && value.TryGetValue(out ulong number) ? number : 0;
}
