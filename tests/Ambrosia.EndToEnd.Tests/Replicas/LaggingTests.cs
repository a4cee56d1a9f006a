namespace Ambrosia.EndToEnd.Tests;

/// <summary>
/// A secondary whose app is slow, or stands still, while the primary truncates: what it reads is held for it, and what it stopped reading
/// is removed after a while, which it is told by a line; it never finds its log missing otherwise, and goes on.
/// </summary>
public sealed class LaggingTests : ReplicaTests
{
    [Fact]
    public void Secondary_ThatIsSlow_KeepsWhatItReadsUntilItHasReadIt()
    {
        using var cluster = new Cluster();
        cluster.Run(Cluster.Again(nameof(Secondary_ThatIsSlow_KeepsWhatItReadsUntilItHasReadIt)), () =>
        {
            (ReplicaSet source, ReplicaSet ledger, Replica slow) = Start(cluster, lagMs: 400);
            ledger.Members[0].AwaitLine("what is held", static line => line.Contains("is held by a reader", StringComparison.Ordinal));
            File.Create(cluster.Until).Dispose();
            AssertGoesOn(cluster, source, ledger, slow);
            Assert.Null(slow.Lines.Find(static line => line.StartsWith("the log at", StringComparison.Ordinal)));
        });
    }

    [Fact]
    public void Secondary_WhoseAppStandsStill_BeginsAgainFromTheNewestCheckpoint()
    {
        using var cluster = new Cluster();
        cluster.Run(Cluster.Again(nameof(Secondary_WhoseAppStandsStill_BeginsAgainFromTheNewestCheckpoint)), () =>
        {
            (ReplicaSet source, ReplicaSet ledger, Replica slow) = Start(cluster, lagMs: 0);
            int app = slow.AppId!.Value;
            Signals.Stop(app);
            string[] standing = Segments(slow);
            try
            {
                Cluster.Await("its segments are truncated", () => !Segments(slow).Intersect(standing).Any());
            }
            finally
            {
                Signals.Continue(app);
            }
            slow.AwaitLine("why it begins again",
                static line => line.StartsWith("the log at", StringComparison.Ordinal)
                    && line.Contains("begins again from the newest checkpoint", StringComparison.Ordinal));
            AssertGoesOn(cluster, source, ledger, slow);
        });
    }

    /// <summary>A quick standby, which has the checkpoint duty, and one that lags.</summary>
    private static (ReplicaSet Source, ReplicaSet Ledger, Replica Slow) Start(Cluster cluster, int lagMs)
    {
        (ReplicaSet source, ReplicaSet ledger) = Pair(cluster, "--checkpoint-every", "1M", "--segment", "2M");
        source.Settings["FILL"] = "200";
        ledger.Start(2);
        Replica slow = ledger.Add();
        slow.Settings["LAG_MS"] = $"{lagMs}";
        slow.Start();
        foreach (Replica secondary in ledger.Members) ReplicaSet.AwaitCaughtUp(secondary);
        source.Start(1);
        return (source, ledger, slow);
    }

    private static string[] Segments(Replica member) =>
        [.. Directory.EnumerateFiles(member.LogDirectory, "log.*.1").Select(static path => Path.GetFileName(path))];

    /// <summary>All is equal, nobody gave up, and the one that lagged has come to the end and can take over.</summary>
    private static void AssertGoesOn(Cluster cluster, ReplicaSet source, ReplicaSet ledger, Replica slow)
    {
        Finish(cluster, source);
        Tool promoted = Tool.Run("promote", slow.LogDirectory, "r2");
        Assert.True(promoted.Code == 0, promoted.Error);
        slow.AwaitReady();
        Assert.Equal(75, ledger.Members[0].AwaitExit());
        Assert.DoesNotContain(slow.Lines.From(0),
            static line => line.StartsWith("exit ", StringComparison.Ordinal) || line.StartsWith("Unhandled", StringComparison.Ordinal));
    }
}
