using System.Text.Json.Nodes;

namespace Ambrosia.Tools;

/// <summary>What one replica says of itself.</summary>
/// <param name="Role"><c>primary</c>, <c>secondary</c>, <c>recovering</c>, <c>waiting</c>.</param>
/// <param name="Executed">Log position below which its app is known to have executed everything.</param>
/// <param name="Durable">Log position below which it knows everything to be durable.</param>
/// <param name="LagBytes">Log that was durable a moment before, as far as any replica knew, and that this one has not executed.</param>
/// <param name="Links">Of a primary; others have none.</param>
/// <param name="KeptCalls">Calls that are kept until their receivers have them.</param>
/// <param name="Orphaned">Kept calls of a primary to peers that no link leads to.</param>
/// <param name="SpilledBytes">Of outputs that peers have not taken and that do not fit its memory: they are on disk.</param>
/// <param name="WaitsFor">The app waits for room for its outputs, and most of what takes it is for this peer; null:
/// it does not wait.</param>
/// <param name="CheckpointFailure">Why there is no newer checkpoint: what the app could not write, or what went wrong.
/// Null: nothing did.</param>
internal sealed record ReplicaStatus(
    string Replica, string Role, ulong? Epoch, ulong? Executed, ulong? Durable, ulong? LagBytes, IReadOnlyList<LinkStatus> Links,
    ulong KeptCalls, IReadOnlyList<OrphanedCalls> Orphaned, ulong? SpilledBytes, string? WaitsFor, string? CheckpointFailure)
{
    public bool HasRoleOfPrimary() => Role == "primary";

    /// <param name="durable">Highest position known before it was asked.</param>
    public static ReplicaStatus Of(string instance, string replica, JsonObject status, ulong durable)
    {
        JsonNode? log = status["log"];
        string role = Text(status, "role");
        bool isPrimary = role == "primary";
        LinkStatus[] links = !isPrimary ? []
            : [.. Items(status, "links").Select(static l => new LinkStatus(Text(l, "peer"), Text(l, "state"), (string?)l?["lastEnd"]))];
        ulong kept = 0;
        var orphaned = new List<OrphanedCalls>();
        foreach (JsonNode? outbox in Items(status, "outboxes"))
        {
            ulong made = Number(outbox, "calls") ?? 0, calls = made - Math.Min(made, Number(outbox, "trimmed") ?? 0);
            string to = Text(outbox, "to");
            kept += calls;
            if (isPrimary && calls > 0 && to != instance && !links.Any(link => link.Peer == to && link.State == "open"))
                orphaned.Add(new OrphanedCalls(to, calls));
        }
        ulong? executed = Number(log, "executed"), own = Number(log, "durable");
        ulong? lag = executed is { } position ? Math.Max(durable, own ?? 0) - Math.Min(Math.Max(durable, own ?? 0), position) : null;
        return new ReplicaStatus(replica, role, Number(status, "epoch"), executed, own, lag, links, kept, orphaned,
            Number(status["spill"], "bytes"), AwaitedPeer(status),
            (string?)status["checkpoint"]?["lastFailure"]);
    }

    private static string? AwaitedPeer(JsonObject status) =>
        (bool?)status["spill"]?["isAwaited"] == true
        && Items(status, "outboxes").MaxBy(static outbox => Number(outbox, "keptBytes") ?? 0) is { } most ? Text(most, "to") : null;

    public static ulong? Number(JsonNode? of, string name) =>
        of?[name] is JsonValue value && value.TryGetValue(out ulong number) ? number : null;

    private static string Text(JsonNode? of, string name) => (string?)of?[name] ?? "";

    private static IEnumerable<JsonNode?> Items(JsonNode of, string name) => of[name] as JsonArray ?? [];
}
