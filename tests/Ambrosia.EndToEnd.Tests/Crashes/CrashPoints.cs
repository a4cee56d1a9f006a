namespace Ambrosia.EndToEnd.Tests;

/// <summary>All crash points. The one list: <see cref="CrashPointListTests"/> compares it with the coordinator's sources.</summary>
internal static class CrashPoints
{
    public static readonly CrashPoint[] Log =
    [
        new("recv.afterRead", Victim.Ledger, Workload.Small, 3),
        new("log.beforeAppend", Victim.Ledger, Workload.Small, 3),
        new("log.midAppend", Victim.Ledger, Workload.Small, 3),
        new("log.afterAppend", Victim.Source, Workload.Small, 5),
        new("log.betweenPages", Victim.Ledger, Workload.Large),
        new("log.afterFlush", Victim.Ledger, Workload.Small, 4),
        new("log.afterFenceCheck", Victim.Source, Workload.Small, 4),
        new("segment.beforeCreate", Victim.Ledger, Workload.Small),
        new("segment.beforeCreate", Victim.Ledger, Workload.Restart),
        new("segment.afterLength", Victim.Ledger, Workload.Restart),
        new("segment.afterCreate", Victim.Ledger, Workload.Restart),
        new("segment.afterDirFsync", Victim.Ledger, Workload.Restart),
        new("segment.recycle", Victim.Source, Workload.Small),
        new("segment.afterRecycle", Victim.Source, Workload.Small),
        new("create.beforeInstance", Victim.Source, Workload.Small),
        new("create.afterInstance", Victim.Source, Workload.Small),
        new("create.beforeFirstStart", Victim.Source, Workload.Small),
        new("contract.midWrite", Victim.Source, Workload.Small),
        new("contract.afterRename", Victim.Ledger, Workload.Small),
        new("catalog.beforePublish", Victim.Ledger, Workload.Small),
        new("digest.beforeQuiet", Victim.Source, Workload.Alone),
        new("digest.afterQuiet", Victim.Source, Workload.Alone),
    ];

    public static readonly CrashPoint[] Channels =
    [
        new("ack.beforeSend", Victim.Ledger, Workload.Small, 2),
        new("ack.afterSend", Victim.Ledger, Workload.Small, 2),
        new("deliver.before", Victim.Ledger, Workload.Small, 3),
        new("deliver.after", Victim.Ledger, Workload.Small, 3),
        new("out.recvFromApp", Victim.Source, Workload.Small, 3),
        new("out.beforeSend", Victim.Source, Workload.Small, 3),
        new("out.partialSend", Victim.Source, Workload.Large),
        new("out.afterSend", Victim.Source, Workload.Small, 3),
        new("out.spill", Victim.Source, Workload.Alone, 2),
        new("trim.before", Victim.Source, Workload.Small, 2),
        new("trim.after", Victim.Source, Workload.Small, 2),
        new("timer.beforeAppend", Victim.Source, Workload.TimersAndTasks, 20),
        new("timer.afterAppend", Victim.Source, Workload.TimersAndTasks, 20),
        new("task.beforeAppend", Victim.Source, Workload.TimersAndTasks, 20),
        new("task.afterAppend", Victim.Source, Workload.TimersAndTasks, 20),
        new("handshake.sentHello", Victim.Source, Workload.Small),
        new("handshake.sentHello", Victim.Ledger, Workload.Small),
        new("handshake.gotHello", Victim.Source, Workload.Small),
        new("handshake.gotHello", Victim.Ledger, Workload.Small),
    ];

    public static readonly CrashPoint[] Recovery =
    [
        new("ckpt.begin", Victim.Source, Workload.Small),
        new("ckpt.midWrite", Victim.Source, Workload.Small, 2),
        new("ckpt.afterFsync", Victim.Ledger, Workload.Small),
        new("ckpt.afterRename", Victim.Source, Workload.Small, 2),
        new("ckpt.afterDirFsync", Victim.Ledger, Workload.Small, 2),
        new("truncate.afterUnlink", Victim.Source, Workload.Small),
        new("takeover.afterClaim", Victim.Ledger, Workload.Small),
        new("takeover.afterClaim", Victim.Ledger, Workload.Restart),
        new("takeover.afterTailRead", Victim.Source, Workload.Restart),
        new("takeover.midRelog", Victim.Source, Workload.Restart),
        new("takeover.afterRename", Victim.Source, Workload.Restart),
        new("takeover.beforeConnect", Victim.Source, Workload.Restart),
        new("policy.beforeAppend", Victim.Source, Workload.Restart),
        new("policy.afterCommit", Victim.Ledger, Workload.Restart),
        new("build.beforeAppend", Victim.Source, Workload.Restart),
        new("quarantine.beforeAppend", Victim.Ledger, Workload.Poison, 2),
        new("quarantine.afterAppend", Victim.Ledger, Workload.Poison, 2),
        new("recovery.everyRecord", Victim.Source, Workload.Restart, 2),
        new("recovery.everyRecord", Victim.Ledger, Workload.Restart, 3),
    ];

    /// <summary>Steps on the way to callers outside; <see cref="CallerCrashPointTests"/> passes them.</summary>
    public static readonly string[] Callers = ["client.beforeLogged", "client.beforeAnswer", "client.afterAnswer"];

    /// <summary>Steps of a query; <see cref="QueryTests"/> passes them.</summary>
    public static readonly string[] Queries = ["query.beforeAsk", "query.answered"];

    /// <summary>Of a primary that forgets a peer; Replicas/ForgetPeerTests walks these.</summary>
    public static readonly string[] Forgetting = ["forget.before", "forget.after"];

    /// <summary>Steps of a secondary that becomes primary; Replicas/FailoverTests walks these.</summary>
    public static readonly string[] Promotion =
    [
        "takeover.afterClaim", "takeover.afterTailRead", "segment.beforeCreate", "segment.afterLength", "segment.afterCreate",
        "takeover.midRelog", "takeover.afterRename", "segment.afterDirFsync", "catalog.beforePublish", "takeover.beforeConnect",
        "handshake.sentHello", "handshake.gotHello", "log.afterFlush", "log.afterFenceCheck",
    ];

    /// <summary>Steps of an upgrade; Upgrades/UpgradeLoadTests walks these.</summary>
    public static readonly string[] Upgrades =
    [
        "upgrade.atTarget", "upgrade.afterConvert", "upgrade.afterNewCkpt", "upgrade.beforeRecord", "upgrade.afterRecord",
        "upgrade.beforeRotate", "upgrade.midRecord", "upgrade.afterFence", "upgrade.beforeNewSession",
    ];

    /// <summary>Steps that no run of this version passes, with the reason.</summary>
    public static readonly Dictionary<string, string> NotReached = [];

    public static IEnumerable<CrashPoint> All => [.. Log, .. Channels, .. Recovery];

    /// <summary>Those that some test reaches.</summary>
    public static IEnumerable<string> Names =>
        All.Select(static p => p.Name).Concat(Callers).Concat(Queries).Concat(Forgetting).Concat(Promotion).Concat(Upgrades);
}
