using System.Text.Json.Nodes;
using Ambrosia.Log;
using Ambrosia.Protocol;

namespace Ambrosia.Coordinator;

/// <summary>
/// The command <c>status</c> (protocol P9.5): what this replica is and how far it has come. Owns nothing; each figure is taken by itself,
/// so that two of them may be a moment apart. Any thread.
/// </summary>
internal sealed class StatusReport(
    CoordinatorInputs inputs, ReplicaLog log, LogChain chain, Func<Epoch> epoch, LinkTable links, OutboxSet outboxes, AppParts app,
    ClientTable callers)
{
    /// <summary>Of a replica that has no log open yet.</summary>
    public static JsonObject OfWaiting(InstanceIdentity identity, string replica) => Front(identity, replica, "waiting");

    private string Role => links.IsAdmitting ? "primary" : log.IsWritten ? "recovering" : "secondary";

    private static JsonObject Front(InstanceIdentity identity, string replica, string role) => new()
    {
        ["instance"] = identity.Name,
        ["uuid"] = identity.Uuid.ToString(),
        ["shard"] = identity.Shard,
        ["replica"] = replica,
        ["process"] = Environment.ProcessId,
        ["role"] = role,
    };

    public JsonObject Make()
    {
        JsonObject status = Front(inputs.Identity, inputs.Options.Replica, Role);
        status["epoch"] = epoch().Value;
        status["log"] = LogPart();
        status["isCaughtUp"] = app.Live is { HasBegun: true } && app.Delivery.Next >= log.Durable && app.Progress.IsDry;
        status["digestsCompared"] = app.Digests.Compared;
        status["replicas"] = new JsonArray(
            [.. ReplicaLock.Present(inputs.Files, inputs.Options.LogDirectory).Select(static name => (JsonNode)name)]);
        status["checkpoints"] = Checkpoints();
        status["checkpoint"] = CheckpointPart();
        status["app"] = AppPart();
        status["links"] = Array(links.News().Select(static l => new JsonObject
        {
            ["peer"] = l.Peer.ToString(), ["state"] = l.State, ["remote"] = l.Remote, ["lastEnd"] = l.LastEnd,
        }));
        status["callers"] = callers.Count;
        status["outboxes"] = Array(outboxes.InOrder().Select(static o => OutboxPart(o.News)));
        status["spill"] = new JsonObject
        {
            ["bytes"] = outboxes.SpilledBytes, ["bytesMax"] = inputs.Options.ScratchBytes, ["isFull"] = outboxes.IsFull,
            ["isAwaited"] = app.OutputWait.IsWaiting
        };
        status["disk"] = new JsonObject { ["freeBytes"] = inputs.Files.FreeBytes(inputs.Options.LogDirectory) };
        return status;
    }

    private JsonObject LogPart()
    {
        var segments = chain.Segments;
        var part = new JsonObject
        {
            ["directory"] = inputs.Options.LogDirectory,
            ["oldest"] = segments.IsEmpty ? 0 : segments[0].FirstLsn.Value,
            ["segments"] = segments.Length,
            ["executed"] = app.Progress.Processed.Value,
            ["stated"] = log.Stated.Value,
            ["durable"] = log.Durable.Value,
        };
        if (log.IsWritten) AddWriting(part, log.Writer);
        return part;
    }

    /// <summary>What only the replica that writes the log can say.</summary>
    private static void AddWriting(JsonObject part, LogWriter writer)
    {
        LogMetrics metrics = writer.Metrics;
        part["sealed"] = writer.Sealed.Value;
        part["tail"] = writer.Tail.Value;
        part["groups"] = metrics.Groups;
        part["pages"] = metrics.Pages;
        part["bytes"] = metrics.FileBytes;
        part["waitsForRoom"] = metrics.NoRoom;
        part["waitsForZeros"] = metrics.ZeroWaits;
        part["waitsForSpace"] = metrics.SpaceWaits;
    }

    /// <summary>By their names alone, newest first: which of them verify is for those who read them.</summary>
    private JsonArray Checkpoints() =>
        Array(Ambrosia.Log.Checkpoints.List(inputs.Files, inputs.Options.LogDirectory).Select(static name => new JsonObject
        {
            ["name"] = name.ToString(), ["lsn"] = name.Lsn.Value, ["epoch"] = name.Epoch.Value, ["replica"] = name.Replica,
        }));

    private JsonObject CheckpointPart()
    {
        CheckpointNews news = app.CheckpointDuty.News;
        return new JsonObject { ["isUnderWay"] = news.IsUnderWay, ["failures"] = news.Failures, ["lastFailure"] = news.Why };
    }

    private JsonObject? AppPart() => app.Live is not { } session ? null : new JsonObject
    {
        ["session"] = session.Number, ["stage"] = session.StageName, ["delivered"] = app.Delivery.Next.Value,
        ["records"] = app.Delivery.Records,
    };

    private static JsonObject OutboxPart(in OutboxNews news) => new()
    {
        ["to"] = news.Destination.ToString(), ["calls"] = news.Known, ["trimmed"] = news.Trimmed, ["impulses"] = news.Impulses,
        ["impulsesDurable"] = news.ImpulsesDurable, ["keptBytes"] = news.KeptBytes, ["hasUnsent"] = news.HasUnsent,
    };

    private static JsonArray Array(IEnumerable<JsonNode> items) => new([.. items]);
}
