using System.Text.Json.Nodes;
using Ambrosia.Session;

namespace Ambrosia.Hosting.Replicas;

/// <summary>
/// Holds what a replica said of itself at one moment, as <c>ambrosia status</c> shows it (protocol P9.5). What it did not say is null, or
/// zero. Nothing in it changes.
/// </summary>
internal sealed class ReplicaStatus(JsonObject status)
{
    internal string Instance => Text("instance") ?? "";

    internal string Replica => Text("replica") ?? "";

    internal string Role => Text("role") ?? "";

    internal string? WaitsBecause => Text("waitsBecause");

    internal bool IsPrimary => Role == "primary";

    /// <summary>The app has executed all that is durable.</summary>
    internal bool IsCaughtUp => Node("isCaughtUp")?.GetValue<bool>() ?? false;

    internal long Durable => Number("log", "durable");

    internal long Executed => Number("log", "executed");

    /// <summary>The bytes of the durable log that are not executed.</summary>
    internal long Lag => IsCaughtUp ? 0 : Math.Max(0, Durable - Executed);

    internal TimeSpan UnexecutedAge => TimeSpan.FromMilliseconds(Number("unexecutedMs"));

    internal long Quarantined => Number("quarantined");

    internal long SpilledBytes => Number("spill", "bytes");

    /// <summary>The app waits until peers take some of its outputs.</summary>
    internal bool OutputsWait => Node("spill", "isAwaited")?.GetValue<bool>() ?? false;

    internal long FreeBytes => Number("disk", "freeBytes");

    /// <summary>The Lsn of the newest checkpoint; null: there is none.</summary>
    internal long? Checkpoint => (status["checkpoints"] as JsonArray) is [JsonObject newest, ..]
        ? Whole(newest["lsn"]) : null;

    /// <summary>How long ago the newest checkpoint was published; null: there is none, or another replica writes the log.</summary>
    internal TimeSpan? CheckpointAge => Node("checkpoint", "ageMs") is { } age ? TimeSpan.FromMilliseconds(Whole(age)) : null;

    /// <summary>It counts what the immortal waits for, as its own process does.</summary>
    internal WaitingWork Waiting { get; init; }

    /// <summary>What the app is waited for, and since how many seconds; null: it gets on.</summary>
    internal (string For, long Seconds)? WaitsForApp => status["waitsForApp"] is JsonObject wait
        ? (wait["for"]?.GetValue<string>() ?? "", wait["seconds"]?.GetValue<long>() ?? 0) : null;

    internal IEnumerable<(string Peer, string State, string? LastEnd)> Links => Objects("links").Select(static link =>
        (link["peer"]?.GetValue<string>() ?? "", link["state"]?.GetValue<string>() ?? "", link["lastEnd"]?.GetValue<string>()));

    internal IEnumerable<(string To, long Calls, long KeptBytes)> Outboxes => Objects("outboxes").Select(static outbox =>
        (outbox["to"]?.GetValue<string>() ?? "", Whole(outbox["calls"]), Whole(outbox["keptBytes"])));

    /// <summary>Returns a number of the status by its path; 0: it is not there.</summary>
    internal long Number(params ReadOnlySpan<string> path) => Whole(Node(path));

    private static long Whole(JsonNode? node) => node is JsonValue value
        ? value.TryGetValue(out long number) ? number : value.TryGetValue(out ulong large) ? unchecked((long)large)
            : value.TryGetValue(out int small) ? small : value.TryGetValue(out uint natural) ? natural : 0
        : 0;

    private string? Text(string name) => status[name]?.GetValue<string>();

    private JsonNode? Node(params ReadOnlySpan<string> path)
    {
        JsonNode? node = status;
        foreach (string name in path) node = (node as JsonObject)?[name];
        return node;
    }

    private IEnumerable<JsonObject> Objects(string name) => (status[name] as JsonArray ?? []).OfType<JsonObject>();
}
