using System.Text.Json.Nodes;
using Ambrosia.Coordinator.Hosting;
using Ambrosia.Log.Files;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>What operators do with replicas: promote one, retire another, move an instance.</summary>
public sealed class OperatorTests : ReplicaTests
{
    private static readonly IFileSystem s_files = new PosixFileSystem();

    private static JsonObject Ask(ReplicaSet set, int member, string command, bool force = false)
    {
        JsonObject? last = null;
        foreach (JsonObject answer in AdminClient.Ask(s_files, set.Members[member].LogDirectory, $"r{member}",
            new JsonObject { ["command"] = command, ["force"] = force }, Cluster.Patience)) last = answer;
        return last!;
    }

    [Fact]
    public void Promote_Secondary_PrimaryEndsAndNothingIsLost()
    {
        using var cluster = new Cluster();
        cluster.Run(Cluster.Again(nameof(Promote_Secondary_PrimaryEndsAndNothingIsLost)), () =>
        {
            (ReplicaSet source, ReplicaSet ledger) = Pair(cluster);
            ledger.Start(2);
            source.Start(1);
            ReplicaSet.AwaitCaughtUp(ledger.Members[1]);
            Assert.Equal("secondary", (string?)Ask(ledger, 1, "status")["role"]);
            JsonObject? answer = null;
            // until it has caught up under load
            Cluster.Await("promotion", () => (answer = Ask(ledger, 1, "promote"))["primary"] is not null);
            Assert.Equal(2ul, (ulong)answer!["epoch"]!);
            Assert.Equal(75, ledger.Members[0].AwaitExit());
            Assert.NotNull(Ask(ledger, 1, "promote")["error"]);
            Finish(cluster, source);
        });
    }

    /// <summary>Relocation: start one elsewhere, retire the old one.</summary>
    [Fact]
    public void Retire_Primary_StandbyGoesOn()
    {
        using var cluster = new Cluster();
        cluster.Run(Cluster.Again(nameof(Retire_Primary_StandbyGoesOn)), () =>
        {
            (ReplicaSet source, ReplicaSet ledger) = Pair(cluster);
            ledger.Start(1);
            source.Start(1);
            Assert.Contains("no other replica runs", (string?)Ask(ledger, 0, "retire")["error"]);
            Replica next = ledger.Add().Start();
            ReplicaSet.AwaitCaughtUp(next);
            Assert.True((bool)Ask(ledger, 0, "retire")["retiring"]!);
            Assert.Equal(0, ledger.Members[0].AwaitExit());
            next.AwaitReady();
            Finish(cluster, source);
            cluster.AssertNoneGaveUp();
        });
    }

    /// <summary>A standby that is stopped holds its lock and has published its address, and cannot follow all the same.</summary>
    [Fact]
    public void Retire_PrimaryWhoseStandbyIsStopped_IsRefusedAndAStopTakesTheCheckpoint()
    {
        using var cluster = new Cluster();
        cluster.Run(Cluster.Again(nameof(Retire_PrimaryWhoseStandbyIsStopped_IsRefusedAndAStopTakesTheCheckpoint)), () =>
        {
            (ReplicaSet source, ReplicaSet ledger) = Pair(cluster);
            ledger.Start(2);
            source.Start(1);
            ReplicaSet.AwaitCaughtUp(ledger.Members[1]);
            Replica primary = ledger.Members[0];
            Signals.Stop(ledger.Members[1].Coordinator.Id);
            Assert.Contains("r1 stands still", (string?)Ask(ledger, 0, "retire")["error"]);
            Signals.Terminate(primary.Coordinator.Id);
            Assert.Equal(0, primary.AwaitExit());
            primary.AwaitLine("why no replica goes on",
                static line => line == "no replica goes on at once (r1 stands still), so a last checkpoint is taken");
            Assert.NotEmpty(Directory.EnumerateFiles(primary.LogDirectory, "ckpt.*.r0"));
            Assert.DoesNotContain(
                primary.Lines.From(0), static line => line.Contains("ends without a last checkpoint", StringComparison.Ordinal));
            Signals.Continue(ledger.Members[1].Coordinator.Id);
            ledger.Members[1].AwaitReady();
            Finish(cluster, source);
        });
    }

    /// <summary>A standby that moves and whose app has not come could not go on either.</summary>
    [Fact]
    public void Retire_PrimaryWhoseStandbyHasNoApp_IsRefused()
    {
        using var cluster = new Cluster();
        cluster.Run(Cluster.Again(nameof(Retire_PrimaryWhoseStandbyHasNoApp_IsRefused)), () =>
        {
            (ReplicaSet source, ReplicaSet ledger) = Pair(cluster);
            ledger.Start(1);
            source.Start(1);
            ledger.Add().Start(withApp: false);
            Cluster.Await("the standby says that it moves",
                () => ((string?)Ask(ledger, 0, "retire")["error"])?.Contains("r1 could not go on", StringComparison.Ordinal) == true);
            Assert.True(ledger.Members[0].IsRunning);
            Finish(cluster, source);
            cluster.AssertNoneGaveUp();
        });
    }
}
