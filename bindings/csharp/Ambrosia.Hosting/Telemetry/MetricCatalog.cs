using Ambrosia.Hosting.Replicas;

namespace Ambrosia.Hosting.Telemetry;

/// <summary>The metrics of the meter <c>Ambrosia</c>, as docs/telemetry.md lists them. Nothing in it changes.</summary>
internal static class MetricCatalog
{
    internal const string MeterName = "Ambrosia";

    /// <summary>So many peers have values of their own; the others are one, "other".</summary>
    internal const int PeersMax = 64;

    private const string Bytes = "By", Peer = "ambrosia.peer", Other = "other";
    private static readonly string[] s_roles = ["waiting", "secondary", "recovering", "primary"];

    internal static IReadOnlyList<ReplicaMetric> All { get; } =
    [
        ReplicaMetric.Of("ambrosia.log.durable", MetricKind.Counter, Bytes, "The position up to which the log is durable.", "log", "durable"),
        ReplicaMetric.Of("ambrosia.log.executed", MetricKind.Counter, Bytes, "The position up to which it is executed.", "log", "executed"),
        ReplicaMetric.Of("ambrosia.log.written", MetricKind.Counter, Bytes, "Bytes written to the log's files.", "log", "bytes"),
        ReplicaMetric.Of("ambrosia.log.flushes", MetricKind.Counter, "{flush}", "Groups of pages that one flush made durable.", "log", "groups"),
        ReplicaMetric.Of("ambrosia.log.pages", MetricKind.Counter, "{page}", "Pages written.", "log", "pages"),
        new("ambrosia.log.waits", MetricKind.Counter, "{wait}", "Times that writers of the log waited.", static status =>
        [
            new(status.Number("log", "waitsForRoom"), ("ambrosia.reason", "room")),
            new(status.Number("log", "waitsForZeros"), ("ambrosia.reason", "zeros")),
            new(status.Number("log", "waitsForSpace"), ("ambrosia.reason", "space")),
        ]),
        new("ambrosia.executed.lag", MetricKind.Gauge, Bytes, "Durable bytes that are not executed.", static status => [new(status.Lag)]),
        new("ambrosia.executed.age", MetricKind.Gauge, "s", "The age of the oldest durable record that is not executed.",
            static status => [new(status.UnexecutedAge.TotalSeconds)]),
        ReplicaMetric.Of("ambrosia.records", MetricKind.Counter, "{record}", "Records given to the app's session.", "app", "records"),
        new("ambrosia.app.wait", MetricKind.Gauge, "s", "How long the app has been waited for; 0 while it gets on.",
            static status => [new(status.WaitsForApp?.Seconds ?? 0)]),
        new("ambrosia.suspended", MetricKind.Gauge, "{method}", "Methods that are suspended: handlers, and what they await of their own.",
            static status => [new(status.Waiting.Methods)]),
        new("ambrosia.timers", MetricKind.Gauge, "{timer}", "Timers that have not fired.", static status => [new(status.Waiting.Timers)]),
        new("ambrosia.tasks", MetricKind.Gauge, "{task}", "Tasks without a result.", static status => [new(status.Waiting.Tasks)]),
        new("ambrosia.checkpoint.behind", MetricKind.Gauge, Bytes, "Log behind the newest checkpoint: what a start executes again.",
            static status => [new(status.Durable - (status.Checkpoint ?? 0))]),
        new("ambrosia.checkpoint.age", MetricKind.Gauge, "s", "How long ago the newest checkpoint was published.",
            static status => status.CheckpointAge is { } age ? [new(age.TotalSeconds)] : []),
        ReplicaMetric.Of("ambrosia.checkpoint.failures", MetricKind.Counter, "{checkpoint}", "Checkpoints that came to nothing.",
            "checkpoint", "failures"),
        new("ambrosia.outbox.kept", MetricKind.Gauge, Bytes, "Outputs that a peer has not taken.",
            static status => PerPeer(status.Outboxes.Select(static box => (box.To, (double)box.KeptBytes)))),
        new("ambrosia.outbox.calls", MetricKind.Counter, "{call}", "Calls made to a peer.",
            static status => PerPeer(status.Outboxes.Select(static box => (box.To, (double)box.Calls)))),
        new("ambrosia.spill.size", MetricKind.Gauge, Bytes, "Outputs that are kept on disk.", static status => [new(status.SpilledBytes)]),
        new("ambrosia.outputs.wait", MetricKind.Gauge, "1", "1 while the app waits until peers take outputs.",
            static status => [new(status.OutputsWait ? 1 : 0)]),
        new("ambrosia.link.open", MetricKind.Gauge, "1", "1 while the link to a peer is open.",
            static status => PerPeer(status.Links.Select(static link => (link.Peer, link.State == "open" ? 1.0 : 0)))),
        new("ambrosia.link.stopped", MetricKind.Gauge, "1", "1 while the link to a peer is stopped until an operator acts.",
            static status => PerPeer(status.Links.Select(static link => (link.Peer, link.State == "stopped" ? 1.0 : 0)))),
        ReplicaMetric.Of("ambrosia.callers", MetricKind.Gauge, "{caller}", "Callers outside that are connected.", "callers"),
        new("ambrosia.quarantined", MetricKind.Gauge, "{message}", "Messages and tasks that are set aside.",
            static status => [new(status.Quarantined)]),
        ReplicaMetric.Of("ambrosia.failures.unheard", MetricKind.Counter, "{failure}", "Failures of calls and tasks that nobody has awaited.",
            "tasks", "unheardFailures"),
        new("ambrosia.disk.free", MetricKind.Gauge, Bytes, "Free bytes of the log's disk.", static status => [new(status.FreeBytes)]),
        new("ambrosia.role", MetricKind.Gauge, "1", "1 for the role that the replica has, 0 for the others.", static status =>
            s_roles.Select(role => new MetricValue(status.Role == role ? 1 : 0, ("ambrosia.role", role)))),
        ReplicaMetric.Of("ambrosia.epoch", MetricKind.Gauge, "1", "The epoch in force.", "epoch"),
    ];

    /// <summary>Gives each peer its value, and the sum of those beyond the bound.</summary>
    private static IEnumerable<MetricValue> PerPeer(IEnumerable<(string Peer, double Value)> peers)
    {
        (string Peer, double Value)[] all = [.. peers];
        return all.Take(PeersMax).Select(static each => new MetricValue(each.Value, (Peer, each.Peer)))
            .Concat(all.Length > PeersMax ? [new MetricValue(all.Skip(PeersMax).Sum(static each => each.Value), (Peer, Other))] : []);
    }
}
