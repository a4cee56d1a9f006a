using System.Text.Json.Nodes;
using Ambrosia.AppChannel;
using Ambrosia.Coordinator.AppSessions;
using Ambrosia.Coordinator.Checkpoints;
using Ambrosia.Coordinator.Clients;
using Ambrosia.Coordinator.Links;
using Ambrosia.Coordinator.LogFeed;
using Ambrosia.Coordinator.Outboxes;
using Ambrosia.Coordinator.Quarantine;
using Ambrosia.Coordinator.Replay;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Coordinator.Upgrades;
using Ambrosia.Log.Checkpoints;
using Ambrosia.Log.Commit;
using Ambrosia.Log.Fencing;
using Ambrosia.Log.Instances;
using Ambrosia.Log.Segments;
using Ambrosia.Protocol;
using CRA.Streams;

namespace Ambrosia.Coordinator.Admin;

/// <summary>
/// Answers the command <c>status</c> (protocol P9.5): what this replica is and how far it has come. It owns nothing; each figure is taken
/// by itself, so that two of them may be a moment apart. Any thread.
/// </summary>
internal sealed class StatusReport(CoordinatorInputs inputs, ReplicaLog replica, LogStatus log, AppStatus app, PeerStatuses peers)
{
    /// <summary>It tells of the upgrade that was asked of this primary last.</summary>
    public required Func<InPlaceStatus> Upgrade { get; init; }

    /// <summary>Makes the report of a replica that has no log open yet.</summary>
    public static JsonObject OfWaiting(InstanceIdentity identity, string replica) => Front(identity, replica, "waiting");

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
        string? waits = app.WaitsBecause;
        string role = peers.AreAdmitted ? "primary" : replica.IsWritten ? "recovering" : waits is not null ? "waiting" : "secondary";
        JsonObject status = Front(inputs.Identity, inputs.Options.Replica, role);
        status["epoch"] = replica.Epoch.Value;
        status["appVersion"] = replica.AppVersion;
        status["waitsBecause"] = waits;
        log.AddTo(status);
        app.AddProgressTo(status);
        string directory = inputs.Options.LogDirectory;
        IReadOnlyList<string> running = ReplicaLock.ListRunning(inputs.Files, directory);
        status["replicas"] = new JsonArray([.. running.Select(static name => (JsonNode)name)]);
        status["features"] = ReplicaLock.LowestFeatures(inputs.Files, directory, running);
        log.AddCheckpointsTo(status);
        app.AddTo(status, replica.IsWritten);
        peers.AddTo(status);
        InPlaceStatus upgrade = Upgrade();
        status["upgrade"] = upgrade.Stage == InPlaceStage.None ? null : new JsonObject
        {
            ["stage"] = StageName(upgrade.Stage), ["app"] = CommandText.Of(upgrade.App), ["version"] = upgrade.To, ["why"] = upgrade.Why,
        };
        status["memory"] = new JsonObject { ["receiving"] = Bound(inputs.Memory.Receiving), ["answers"] = Bound(inputs.Memory.Answers) };
        status["disk"] = new JsonObject { ["freeBytes"] = inputs.Files.FreeBytes(inputs.Options.LogDirectory) };
        return status;
    }

    private static JsonObject Bound(SharedBytes bytes) =>
        new() { ["bytes"] = bytes.Held, ["bytesMax"] = bytes.BytesMax, ["refused"] = bytes.Refused };

    private static string StageName(InPlaceStage stage) => stage switch
    {
        InPlaceStage.Starting => "starting", InPlaceStage.Rehearsing => "rehearsing", InPlaceStage.Switching => "switching",
        InPlaceStage.Made => "made", InPlaceStage.Refused => "refused", _ => "given up",
    };
}

/// <summary>Reports the log and the checkpoints beside it.</summary>
internal sealed class LogStatus(
    CoordinatorInputs inputs, ReplicaLog log, LogChain chain, DeliveryTracker progress, ReplicaCheckpoints checkpoints)
{
    public void AddTo(JsonObject status)
    {
        var segments = chain.Segments;
        var part = new JsonObject
        {
            ["directory"] = inputs.Options.LogDirectory,
            ["oldest"] = segments.IsEmpty ? 0 : segments[0].FirstLsn.Value,
            ["segments"] = segments.Length,
            ["executed"] = progress.Processed.Value,
            ["stated"] = log.Stated.Value,
            ["durable"] = log.Durable.Value,
        };
        if (log.IsWritten) AddWriting(part, log.Writer);
        part["held"] = checkpoints.Held is not { } held ? null : new JsonObject
        {
            ["segment"] = Path.GetFileName(held.Segment.Path),
            ["since"] = (held.Since - DateTimeOffset.UnixEpoch).Ticks / TimeSpan.TicksPerMicrosecond, ["bytes"] = held.Bytes,
        };
        status["log"] = part;
    }

    /// <summary>Adds what only the replica that writes the log can say.</summary>
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

    /// <summary>Lists checkpoints by their names alone, newest first: which of them verify is for those who read them.</summary>
    public void AddCheckpointsTo(JsonObject status) => status["checkpoints"] = new JsonArray(
        [.. CheckpointDirectory.List(inputs.Files, inputs.Options.LogDirectory).Select(static name => (JsonNode)new JsonObject
        {
            ["name"] = name.ToString(), ["lsn"] = name.Lsn.Value, ["epoch"] = name.Epoch.Value, ["replica"] = name.Replica,
        })]);
}

/// <summary>Reports the app's session, how far it has executed the log, and the checkpoint under way.</summary>
internal sealed class AppStatus(
    AppSessionRegistry sessions, AppExecution execution, ReplicaCheckpoints checkpoints, AppWatch watch, QuarantineJournal quarantine,
    TaskBodies bodies)
{
    /// <summary>An answer lists at most this many of the tasks that are set aside, and counts the others.</summary>
    private const int TasksMax = 20;

    /// <summary>An answer lists at most this many of the checkpoints that the app could not restore: the last ones.</summary>
    private const int UnrestorableMax = 8;

    /// <summary>Why the app that has come is given nothing; null: it is, or none has come.</summary>
    public string? WaitsBecause => sessions.Admission.WaitsBecause;

    public void AddProgressTo(JsonObject status)
    {
        status["isCaughtUp"] = sessions.IsCaughtUp;
        status["unexecutedMs"] = (long)execution.UnexecutedAge.TotalMilliseconds;
        status["digestsCompared"] = execution.Digests.Compared;
    }

    /// <param name="isWriting">This replica writes the log, so that checkpoints are its business.</param>
    public void AddTo(JsonObject status, bool isWriting)
    {
        CheckpointStatus last = checkpoints.Trigger.Status;
        status["checkpoint"] = new JsonObject
        {
            ["isUnderWay"] = last.IsUnderWay, ["failures"] = last.Failures, ["lastFailure"] = last.Why, ["refusal"] = last.Refusal,
            ["unrestorable"] = new JsonArray([.. checkpoints.Recovery.Refused.TakeLast(UnrestorableMax).Select(static each =>
                (JsonNode)new JsonObject { ["name"] = each.Name.ToString(), ["why"] = each.Why })]),
            ["ageMs"] = isWriting && last.Age is { } age ? (long)age.TotalMilliseconds : null,
        };
        IReadOnlyList<TaskBody> aside = bodies.Aside;
        status["quarantined"] = quarantine.Count + aside.Count;
        status["tasks"] = new JsonObject
        {
            ["aside"] = new JsonArray([.. aside.Take(TasksMax).Select(static body => (JsonNode)new JsonObject
            {
                ["task"] = body.Task, ["body"] = body.Name, ["lsn"] = body.Begun.Value, ["deaths"] = body.Deaths,
            })]),
            ["more"] = Math.Max(0, aside.Count - TasksMax), ["unheardFailures"] = bodies.Unheard,
        };
        status["app"] = sessions.Live is not { } session ? null : new JsonObject
        {
            ["session"] = session.Number, ["version"] = execution.Delivery.Versions.Runs, ["stage"] = session.StageName,
            ["delivered"] = execution.Delivery.Next.Value, ["records"] = execution.Delivery.Records,
        };
        status["waitsForApp"] = watch.Overdue is not { } wait ? null : new JsonObject
        {
            ["for"] = wait.Kind switch
            {
                AppWaitKind.Connection => "connection", AppWaitKind.Record => "record", _ => "becoming primary",
            },
            ["lsn"] = wait.Kind == AppWaitKind.Connection ? null : wait.At.At.Value,
            ["index"] = wait.Kind == AppWaitKind.Record ? wait.At.Index : null,
            ["seconds"] = (long)wait.Lasts.TotalSeconds,
        };
    }
}

/// <summary>Reports who is connected, and what waits for peers.</summary>
/// <param name="scratchBytesMax">Disk that outputs may take.</param>
internal sealed class PeerStatuses(LinkTable links, OutputStore outputs, ClientTable callers, long scratchBytesMax)
{
    /// <summary>An answer lists at most this many links and outboxes, and counts the others (protocol P9.5).</summary>
    private const int PeersMax = 500;

    /// <summary>Peers are let in.</summary>
    public bool AreAdmitted => links.IsAdmitting;

    public void AddTo(JsonObject status)
    {
        List<PeerStatus> peers = links.Statuses();
        List<OutboxStatus> outboxes = [.. outputs.Outboxes.InOrder().Select(static o => o.Status)];
        int morePeers = peers.Count - PeersMax, moreOutboxes = outboxes.Count - PeersMax;
        if (morePeers > 0) peers = [.. peers.OrderBy(static l => Rank(l.State)).Take(PeersMax)];
        if (moreOutboxes > 0) outboxes = [.. outboxes.OrderByDescending(static o => o.KeptBytes).Take(PeersMax)];
        status["links"] = new JsonArray([.. peers.Select(static l => (JsonNode)new JsonObject
        {
            ["peer"] = l.Peer.ToString(), ["state"] = l.State, ["remote"] = l.Remote, ["lastEnd"] = l.LastEnd,
        })]);
        status["moreLinks"] = Math.Max(morePeers, 0);
        status["callers"] = callers.Count;
        status["outboxes"] = new JsonArray([.. outboxes.Select(static o => (JsonNode)OutboxPart(o))]);
        status["moreOutboxes"] = Math.Max(moreOutboxes, 0);
        status["spill"] = new JsonObject
        {
            ["bytes"] = outputs.Outboxes.SpilledBytes, ["bytesMax"] = scratchBytesMax, ["isFull"] = outputs.Outboxes.IsFull,
            ["isAwaited"] = outputs.Backpressure.IsWaiting
        };
    }

    /// <summary>What wants an operator comes first, and what merely waits for its peer comes last.</summary>
    private static int Rank(string state) => state switch { "stopped" => 0, "open" => 1, "opening" => 2, _ => 3 };

    private static JsonObject OutboxPart(in OutboxStatus outbox) => new()
    {
        ["to"] = outbox.Destination.ToString(), ["calls"] = outbox.Known, ["trimmed"] = outbox.Trimmed, ["impulses"] = outbox.Impulses,
        ["impulsesDurable"] = outbox.ImpulsesDurable, ["keptBytes"] = outbox.KeptBytes, ["hasUnsent"] = outbox.HasUnsent,
    };
}
