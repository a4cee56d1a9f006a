namespace Ambrosia.EndToEnd.Tests;

/// <summary>A secondary takes the checkpoints, the primary when there is none; all who execute the log compare.</summary>
public sealed class CheckpointTests : ReplicaTests
{
    private const int Divergence = 70;

    private static string[] CheckpointsOf(ReplicaSet set, string replica) =>
        [.. Directory.EnumerateFiles(set.Members[0].LogDirectory, $"ckpt.*.{replica}").Select(static path => Path.GetFileName(path))];

    [Fact]
    public void Secondary_IsThere_TakesTheCheckpointsUntilItGoes()
    {
        using var cluster = new Cluster();
        cluster.Run(Cluster.Again(nameof(Secondary_IsThere_TakesTheCheckpointsUntilItGoes)), () =>
        {
            (ReplicaSet source, ReplicaSet ledger) = Pair(cluster, "--checkpoint-every", "512K");
            ledger.Start(2);
            ReplicaSet.AwaitCaughtUp(ledger.Members[1]);
            source.Start(1);
            Cluster.Await("a checkpoint by the secondary", () => CheckpointsOf(ledger, "r1").Length > 0);
            Assert.Empty(CheckpointsOf(ledger, "r0"));
            ledger.Members[1].KillCoordinator();
            Cluster.Await("a checkpoint by the primary, which is alone now", () => CheckpointsOf(ledger, "r0").Length > 0);
            ledger.KillAll();
            ledger.Members[1].Start().AwaitReady(); // from whichever is newest
            Finish(cluster, source);
            cluster.AssertNoneGaveUp();
        });
    }

    [Theory]
    [InlineData("ckpt.begin")]
    [InlineData("ckpt.midWrite")]
    [InlineData("ckpt.afterFsync")]
    [InlineData("ckpt.afterRename")]
    public void Checkpointer_KilledInTheMiddle_AnotherTakesOver(string step)
    {
        using var cluster = new Cluster();
        cluster.Run(Cluster.Again($"{nameof(Checkpointer_KilledInTheMiddle_AnotherTakesOver)}&DisplayName~{step}"), () =>
        {
            (ReplicaSet source, ReplicaSet ledger) = Pair(cluster, "--checkpoint-every", "512K");
            ledger.Start(1);
            Replica dying = ledger.Add().Start(crashAt: step);
            ReplicaSet.AwaitCaughtUp(dying);
            source.Start(1);
            Assert.Equal(Signals.KilledExitCode, dying.AwaitExit());
            Cluster.Await("a checkpoint by the primary", () => CheckpointsOf(ledger, "r0").Length > 0);
            Finish(cluster, source);
            cluster.AssertNoneGaveUp();
        });
    }

    /// <summary>
    /// Its calls are the same, so no digest tells: the image of a checkpoint does, against that of the secondary on duty.
    /// </summary>
    [Fact]
    public void Secondary_WhoseStateDiffersAndCallsDoNot_StopsItself()
    {
        using var cluster = new Cluster();
        cluster.Run(Cluster.Again(nameof(Secondary_WhoseStateDiffersAndCallsDoNot_StopsItself)), () =>
        {
            (ReplicaSet source, ReplicaSet ledger) = Pair(cluster, "--checkpoint-every", "256K");
            ledger.Start(2);
            Replica other = ledger.Add();
            other.Settings["MOOD"] = "8";
            other.Start();
            foreach (Replica secondary in ledger.Members) ReplicaSet.AwaitCaughtUp(secondary);
            source.Start(1);
            Assert.Equal(Divergence, other.AwaitExit());
            other.AwaitLine("what differs",
                static line => line.StartsWith("exit 70: the app's image at log position", StringComparison.Ordinal));
            Assert.True(ledger.Members[1].IsRunning);
            Finish(cluster, source);
        });
    }
}
