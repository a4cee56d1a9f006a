using System.Text.Json.Nodes;
using Ambrosia.Tools.Listing;

namespace Ambrosia.Tools.Replicas;

/// <summary>The status of one replica, as the replica reports it.</summary>
/// <param name="Role"><c>primary</c>, <c>secondary</c>, <c>recovering</c>, or <c>waiting</c>.</param>
/// <param name="Executed">The log position below which its app is known to have executed everything.</param>
/// <param name="Durable">The log position below which it knows everything to be durable.</param>
/// <param name="LagBytes">The bytes of log that any replica knew to be durable a moment before, and that this one has not executed.</param>
/// <param name="Links">The links of a primary; others have none.</param>
/// <param name="KeptCalls">The number of calls that are kept until their receivers have them.</param>
/// <param name="Orphaned">The kept calls of a primary to peers to which no link leads.</param>
/// <param name="SpilledBytes">The bytes of outputs that peers have not taken and that do not fit its memory, so that they are on
/// disk.</param>
/// <param name="WaitsFor">The peer for which most outputs are kept, while the app waits for room for more; null while it does not
/// wait.</param>
/// <param name="CheckpointFailure">Why there is no newer checkpoint: what the app could not write, or what went wrong; null where nothing
/// did.</param>
/// <param name="WaitsForApp">What its app is waited for beyond the limit; null where it gets on.</param>
/// <param name="Held">The segment that a reader keeps a primary from removing; null where none is kept.</param>
internal sealed record ReplicaStatus(
    string Replica, string Role, ulong? Epoch, ulong? Executed, ulong? Durable, ulong? LagBytes, IReadOnlyList<LinkStatus> Links,
    ulong KeptCalls, IReadOnlyList<OrphanedCalls> Orphaned, ulong? SpilledBytes, string? WaitsFor, string? CheckpointFailure,
    WaitForApp? WaitsForApp, HeldHistory? Held)
{
    /// <summary>Why its app is given nothing, where its role is <c>waiting</c>; null where it is, or none has come.</summary>
    public string? WaitsBecause { get; init; }

    /// <summary>The part of its app's state that no checkpoint can hold, so that none is published; null where none is known.</summary>
    public string? Refusal { get; init; }

    /// <summary>The checkpoints that its app could not restore since it was started, so that it began with an older one.</summary>
    public IReadOnlyList<string> Unrestorable { get; init; } = [];

    /// <summary>The version of its app that executes the log; null where none does.</summary>
    public ulong? AppVersion { get; init; }

    /// <summary>The upgrade that was asked of it while it was primary; null where none was, or it came to nothing.</summary>
    public string? Upgrade { get; init; }

    /// <summary>The tasks whose bodies end its app, and are not run.</summary>
    public IReadOnlyList<string> TasksAside { get; init; } = [];

    /// <summary>The number of failures of calls and tasks that nobody has awaited.</summary>
    public ulong UnheardFailures { get; init; }

    /// <summary>The number of links beyond those that it lists.</summary>
    public ulong MoreLinks { get; init; }

    /// <summary>True if it is primary.</summary>
    public bool HasRoleOfPrimary() => Role == "primary";

    /// <summary>Reads a replica's answer.</summary>
    /// <param name="durable">The highest position that any replica knew to be durable before.</param>
    public static ReplicaStatus Of(string instance, string replica, JsonObject status, ulong durable)
    {
        JsonNode? log = status["log"];
        string role = Text(status, "role");
        bool isPrimary = role == "primary";
        LinkStatus[] links = !isPrimary ? []
            : [.. Items(status, "links").Select(static l => new LinkStatus(Text(l, "peer"), Text(l, "state"), (string?)l?["lastEnd"]))];
        ulong kept = 0, more = Number(status, "moreLinks") ?? 0;
        // Connected peers are listed first: what is not listed has no connection, unless all that are listed have one.
        bool isUnlistedOpen = more > 0 && links.All(static link => link.State is "open" or "stopped");
        var orphaned = new List<OrphanedCalls>();
        foreach (JsonNode? outbox in Items(status, "outboxes"))
        {
            ulong made = Number(outbox, "calls") ?? 0, calls = made - Math.Min(made, Number(outbox, "trimmed") ?? 0);
            string to = Text(outbox, "to");
            kept += calls;
            LinkStatus? link = links.FirstOrDefault(link => link.Peer == to);
            if (isPrimary && calls > 0 && to != instance && link?.State != "open" && (link is not null || !isUnlistedOpen))
                orphaned.Add(new OrphanedCalls(to, calls));
        }
        ulong? executed = Number(log, "executed"), own = Number(log, "durable");
        ulong? lag = executed is { } position ? Math.Max(durable, own ?? 0) - Math.Min(Math.Max(durable, own ?? 0), position) : null;
        return new ReplicaStatus(replica, role, Number(status, "epoch"), executed, own, lag, links, kept, orphaned,
            Number(status["spill"], "bytes"), AwaitedPeer(status),
            (string?)status["checkpoint"]?["lastFailure"], WaitForApp.Of(status["waitsForApp"]), HeldHistory.Of(log?["held"]))
        {
            WaitsBecause = (string?)status["waitsBecause"], AppVersion = Number(status["app"], "version"),
            Upgrade = UpgradeOf(status["upgrade"]), TasksAside = TasksOf(status["tasks"]), Refusal = RefusalOf(status),
            UnheardFailures = Number(status["tasks"], "unheardFailures") ?? 0, MoreLinks = more,
            Unrestorable = [.. Items(status["checkpoint"] as JsonObject ?? [], "unrestorable").Select(static each =>
                $"the app could not restore {Text(each, "name")} ({Text(each, "why")}): it began with an older checkpoint. The build that wrote it can go on with it")],
        };
    }

    private static List<string> TasksOf(JsonNode? tasks)
    {
        var told = new List<string>();
        if (tasks?["aside"] is not JsonArray aside) return told;
        foreach (JsonNode? task in aside)
        {
            string name = $"{Number(task, "task")}", body = $"{Text(task, "body")}, begun at Lsn {Number(task, "lsn")}";
            told.Add(
                $"task {name} is set aside, since its body ran each time when the app died ({Number(task, "deaths")} times): {body}. 'ambrosia quarantine retry' or 'drop' decides about task:{name}; the next build runs it again");
        }
        if (Number(tasks, "more") is > 0 and var more) told.Add($"{more} more tasks are set aside");
        return told;
    }

    /// <summary>Says what of its app's state no checkpoint can hold; null where nothing is known.</summary>
    public static string? RefusalOf(JsonObject status) => (string?)status["checkpoint"]?["refusal"];

    private static string? UpgradeOf(JsonNode? upgrade) => (string?)upgrade?["stage"] switch
    {
        "made" => $"goes on with another app than its command line names, which from now on must name '{(string?)upgrade!["app"]}'",
        "starting" or "rehearsing" or "switching" => $"is to go on with '{(string?)upgrade!["app"]}', which is {(string?)upgrade["stage"]}",
        _ => null,
    };

    private static string? AwaitedPeer(JsonObject status) =>
        (bool?)status["spill"]?["isAwaited"] == true
        && Items(status, "outboxes").MaxBy(static outbox => Number(outbox, "keptBytes") ?? 0) is { } most ? Text(most, "to") : null;

    /// <summary>Returns a number of an answer, or null where it has none of that name.</summary>
    public static ulong? Number(JsonNode? of, string name) =>
        of?[name] is JsonValue value && value.TryGetValue(out ulong number) ? number : null;

    private static string Text(JsonNode? of, string name) => (string?)of?[name] ?? "";

    private static IEnumerable<JsonNode?> Items(JsonNode of, string name) => of[name] as JsonArray ?? [];
}

/// <summary>It says how a primary's link to one peer does.</summary>
/// <param name="State"><c>open</c>, <c>opening</c>, <c>dialling</c>, <c>waiting</c>, or <c>stopped</c> until an operator acts.</param>
/// <param name="Why">Why its last connection ended, or null where none has ended.</param>
internal sealed record LinkStatus(string Peer, string State, string? Why);

/// <summary>It names a segment that should go and stays, because a reader, most often a replica that was stopped, holds it.</summary>
/// <param name="Since">The time of the first truncation that it stopped, in µs since 1970.</param>
/// <param name="Bytes">Bytes of log that stay because of it.</param>
internal sealed record HeldHistory(string Segment, ulong Since, ulong Bytes)
{
    /// <summary>Reads what a replica says of it; null where it says nothing.</summary>
    public static HeldHistory? Of(JsonNode? held) =>
        (string?)held?["segment"] is { } segment
            ? new HeldHistory(segment, ReplicaStatus.Number(held, "since") ?? 0, ReplicaStatus.Number(held, "bytes") ?? 0) : null;
}

/// <summary>It says what an app is waited for beyond the limit.</summary>
/// <param name="For"><c>connection</c>, <c>record</c> or <c>becoming primary</c>.</param>
/// <param name="Lsn">The record that does not end, as far as the app says it: everything below is executed.</param>
/// <param name="Seconds">How long it has been waited for.</param>
/// <param name="Record">What the record is, with method and sender; null where that could not be read from here.</param>
internal sealed record WaitForApp(string For, ulong? Lsn, ulong? Index, ulong Seconds, string? Record = null)
{
    /// <summary>Gives it with the record's name, where it is about one.</summary>
    public WaitForApp Named(string log) =>
        this is { For: "record", Lsn: { } lsn } ? this with { Record = RecordName.At(log, lsn, Index ?? 0) } : this;

    /// <summary>The place of the message: the Lsn of its record and, where the app says it, the index in that.</summary>
    public string Place() => Index is { } index ? $"{Lsn}:{index}" : $"{Lsn}";

    /// <summary>Reads what a replica says of it; null where it says nothing.</summary>
    public static WaitForApp? Of(JsonNode? wait) =>
        (string?)wait?["for"] is { } what
            ? new WaitForApp(what, ReplicaStatus.Number(wait, "lsn"), ReplicaStatus.Number(wait, "index"),
                ReplicaStatus.Number(wait, "seconds") ?? 0) : null;
}

/// <summary>They count the calls that are kept for a peer to which no link is open.</summary>
internal sealed record OrphanedCalls(string To, ulong Calls);
