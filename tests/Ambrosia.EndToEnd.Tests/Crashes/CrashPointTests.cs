namespace Ambrosia.EndToEnd.Tests;

/// <summary>
/// At every crash point in turn: a coordinator dies there of its own kill -9, is started again, and nothing of it can be seen in the end.
/// Three classes, so that they run side by side.
/// </summary>
public abstract class CrashPointTests
{
    private const int Calls = 300;

    public static IEnumerable<object[]> RowsOf(string part) =>
        (part switch { "log" => CrashPoints.Log, "channels" => CrashPoints.Channels, _ => CrashPoints.Recovery })
        .Select(static p => new object[] { p.Name, p.Victim.ToString(), p.Workload.ToString(), p.Pass });

    private protected static void DieAndRecover(string name, string victim, string workload, int pass)
    {
        var point = new CrashPoint(name, Enum.Parse<Victim>(victim), Enum.Parse<Workload>(workload), pass);
        using var cluster = new Cluster();
        (Replica source, Replica ledger) = cluster.Pair(Calls, burst: 10, role: point.Workload == Workload.TimersAndTasks ? "steward" : "source");
        SetUp(point, cluster, source, ledger);
        cluster.Run(Cluster.Again($"{name}&DisplayName~{victim}"), () =>
        {
            Replica dying = point.Victim == Victim.Source ? source : ledger, other = dying == source ? ledger : source;
            if (point.Workload != Workload.Alone) other.Start();
            if (point.Workload == Workload.Restart) KillAtWork(dying, other);
            dying.Start(crashAt: point.Setting);
            Assert.Equal(Signals.KilledExitCode, dying.AwaitExit());

            dying.Start();
            if (point.Workload == Workload.Alone) other.Start();
            File.Create(cluster.Until).Dispose();
            Cluster.AssertEqual(source, Calls);
            cluster.AssertNoneGaveUp();
        });
    }

    private static void SetUp(CrashPoint point, Cluster cluster, Replica source, Replica ledger)
    {
        source.Settings["UNTIL"] = cluster.Until; // so that the work does not end before the point is reached
        foreach (Replica replica in new[] { source, ledger })
            replica.Options.AddRange(
                ["--checkpoint-every", point.Workload is Workload.Small or Workload.TimersAndTasks or Workload.Poison ? "64K" : "64M"]);
        if (point.Name is "segment.recycle" or "segment.afterRecycle")
            source.Options.AddRange(["--segment", "2M"]); // so that a checkpoint leaves one behind soon
        if (point.Workload == Workload.Poison)
        {
            ledger.Settings["THROW"] = "50";
            ledger.Options.AddRange(["--fork-policy", "quarantine"]);
        }
        if (point.Workload is not (Workload.Large or Workload.Alone)) return;
        source.Settings["FILL"] = "50000";
        source.Settings["BURST"] = point.Workload == Workload.Alone ? "2000" : "200";
    }

    /// <summary>
    /// Ends it while its last writes are not yet stated as durable, so that the next start has a tail to log again and records to replay.
    /// </summary>
    private static void KillAtWork(Replica dying, Replica other)
    {
        dying.Start();
        dying.AwaitReady();
        other.AwaitReady();
        string log = dying.LogDirectory;
        Cluster.Await("calls are logged",
            () => Directory.EnumerateFiles(log, "log.*").Any(static file => LogFile.LastPageEnd(file) > 32 << 12));
        dying.KillCoordinator();
    }
}
