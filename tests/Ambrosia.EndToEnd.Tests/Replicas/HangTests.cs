namespace Ambrosia.EndToEnd.Tests;

/// <summary>A primary that stands still keeps its lock; its heartbeat gives it away, and when it moves again it is harmless.</summary>
public sealed class HangTests : ReplicaTests
{
    [Fact]
    public void Primary_StoppedAndContinued_IsReplacedAndExitsWithoutAWord()
    {
        using var cluster = new Cluster();
        cluster.Run(Cluster.Again(nameof(HangTests)), () =>
        {
            (ReplicaSet source, ReplicaSet ledger) = Pair(cluster, "--hang-limit", "1");
            ledger.Start(2);
            source.Start(1);
            Replica old = ledger.Primary(), standby = ledger.Standby();
            ReplicaSet.AwaitCaughtUp(standby);
            Signals.Stop(old.Coordinator.Id);
            Assert.Contains("epoch=2", standby.AwaitReady());
            int said = old.Lines.Count;
            Signals.Continue(old.Coordinator.Id);
            Assert.Equal(75, old.AwaitExit());
            Assert.DoesNotContain(old.Lines.From(said), static line => line.StartsWith("ready ", StringComparison.Ordinal));
            old.Start(); // it comes back as a standby
            ReplicaSet.AwaitCaughtUp(old);
            Finish(cluster, source);
        });
    }

    /// <summary>Negative control: the one that stands still holds the lock, so without the heartbeat nobody would come.</summary>
    [Fact]
    public void Primary_StoppedForLessThanTheLimit_Stays()
    {
        using var cluster = new Cluster();
        cluster.Run(Cluster.Again(nameof(HangTests)), () =>
        {
            (ReplicaSet source, ReplicaSet ledger) = Pair(cluster, "--hang-limit", "3600");
            ledger.Start(2);
            source.Start(1);
            Replica primary = ledger.Primary(), standby = ledger.Standby();
            ReplicaSet.AwaitCaughtUp(standby);
            Signals.Stop(primary.Coordinator.Id);
            Assert.Throws<TimeoutException>(() => standby.AwaitLine("ready line", static line => line.StartsWith("ready ", StringComparison.Ordinal), TimeSpan.FromSeconds(3)));
            Signals.Continue(primary.Coordinator.Id);
            Finish(cluster, source);
            cluster.AssertNoneGaveUp();
        });
    }
}
