using Ambrosia.TestKit;

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

    /// <summary>
    /// While it stands still its successor truncates every segment that it wrote, and makes new ones: what it still holds open is nobody's
    /// file any more. It is the last by name, so that the checkpoint duty falls on one that moves. All that it says to its peer goes
    /// through a relay, which counts: the source cannot be called, only calls.
    /// </summary>
    [Fact]
    public void Primary_StoppedWhileItsSegmentsAreRecycled_IsHarmless()
    {
        using var cluster = new Cluster();
        cluster.Run(Cluster.Again(nameof(Primary_StoppedWhileItsSegmentsAreRecycled_IsHarmless)), () =>
        {
            (ReplicaSet source, ReplicaSet ledger) = Pair(cluster, "--hang-limit", "1", "--segment", "2M", "--checkpoint-every", "1M");
            ledger.Start(2);
            Replica old = ledger.Add();
            using FaultyRelay wire = RelayedPair.Before(old, 1, new LinkFaults());
            old.Start();
            source.Options.AddRange(["--advertise", "127.0.0.1:9"]);
            source.Start(1);
            ReplicaSet.AwaitCaughtUp(old);
            Tool promoted = Tool.Run("promote", old.LogDirectory, "r2");
            Assert.True(promoted.Code == 0, promoted.Error);
            ledger.Members[0].AwaitExit();
            ReplicaSet.AwaitCaughtUp(ledger.Members[0].Start());
            Cluster.Await("calls go through the relay", () => wire is { Connections: > 0, FromTarget: > 1000 });
            Signals.Stop(old.Coordinator.Id);
            Cluster.Await("a third primary", () => ledger.Members.Any(static m => ReplicaSet.EpochOf(m) == 3));
            Cluster.Await("the segments of the stopped one are gone, and some of its successor",
                () => Segments(old) is { Count: > 0 } kept && kept.All(static s => s.Epoch == 3) && kept.Max(static s => s.Number) > 8);
            int said = old.Lines.Count;
            long onTheWire = wire.FromTarget;
            Signals.Continue(old.Coordinator.Id);
            Assert.Equal(75, old.AwaitExit());
            Assert.Equal(onTheWire, wire.FromTarget); // not a byte since it moves again
            Assert.DoesNotContain(old.Lines.From(said), static line => line.StartsWith("ready ", StringComparison.Ordinal));
            Assert.All(Segments(old), static s => Assert.Equal(3ul, s.Epoch));
            Assert.Equal(0, Tool.Run("verify", old.LogDirectory).Code);
            Finish(cluster, source);
            // it was told nothing that is not in the history
            Assert.DoesNotContain(source.Members[0].Lines.From(0), static line => line.Contains("P6.4", StringComparison.Ordinal));
        });
    }

    private static List<(ulong Number, ulong Epoch)> Segments(Replica member) =>
        [.. Directory.EnumerateFiles(member.LogDirectory, "log.*.*").Select(static path => Path.GetFileName(path).Split('.'))
            .Where(static parts => parts.Length == 3 && ulong.TryParse(parts[1], out _) && ulong.TryParse(parts[2], out _))
            .Select(static parts => (ulong.Parse(parts[1]), ulong.Parse(parts[2])))];

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
            Assert.Throws<TimeoutException>(
                () =>
                    standby.AwaitLine("ready line", static line => line.StartsWith("ready ", StringComparison.Ordinal),
                        TimeSpan.FromSeconds(3)));
            Signals.Continue(primary.Coordinator.Id);
            Finish(cluster, source);
            cluster.AssertNoneGaveUp();
        });
    }
}
