using System.Diagnostics;
using System.Text.Json;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>A clean stop: what the next start executes again, and who goes on meanwhile.</summary>
public sealed class StopTests : ReplicaTests
{
    private const string Uncovered = "ends without a last checkpoint";

    /// <summary>The source's handler awaits the ledger at nearly every moment, so that its checkpoint has to hold it.</summary>
    [Fact]
    public void Stop_InTheMiddleOfTheWork_LeavesNoInputBehindTheCheckpoint()
    {
        using var cluster = new Cluster();
        (Replica source, Replica ledger) = cluster.Pair(calls: 2000);
        source.Settings["UNTIL"] = cluster.Until;
        cluster.Run(Cluster.Again(nameof(Stop_InTheMiddleOfTheWork_LeavesNoInputBehindTheCheckpoint)), () =>
        {
            ledger.Start();
            source.Start();
            source.AwaitReady();
            foreach (Replica replica in new[] { source, ledger })
            {
                Tool.Run("checkpoint", replica.LogDirectory); // asked for by hand, in the middle of the work
                Tool stop = Tool.Run("stop", replica.LogDirectory, "--json");
                Assert.Equal((0, ""), (stop.Code, stop.Error));
                Assert.Equal("r0", Assert.Single(stop.Json.GetProperty("ended").EnumerateArray()).GetString());
                Assert.Empty(stop.Json.GetProperty("running").EnumerateArray());
                Assert.True(replica.Coordinator.HasExited, "its process is there behind the stop");
                Assert.Equal(0, replica.AwaitExit());
                Assert.DoesNotContain(replica.Lines.From(0), static line => line.Contains(Uncovered, StringComparison.Ordinal));
                string[] name = stop.Json.GetProperty("checkpoint").GetString()!.Split('.');
                Assert.Empty(InputsBehind(replica, name[1]));
            }
            Tool again = Tool.Run("stop", source.LogDirectory);
            Assert.Equal((0, ""), (again.Code, again.Error));
            Assert.StartsWith("no replica of this log runs on this machine\nnewest checkpoint: ckpt.", again.Output);
            ledger.Start();
            source.Start();
            File.Create(cluster.Until).Dispose();
            Cluster.AssertEqual(source, 2000);
        });
    }

    [Fact]
    public void Stop_WithAStandby_EndsItFirstAndNobodyGoesOn()
    {
        using var cluster = new Cluster();
        cluster.Run(Cluster.Again(nameof(Stop_WithAStandby_EndsItFirstAndNobodyGoesOn)), () =>
        {
            (ReplicaSet source, ReplicaSet ledger) = StartTwice(cluster);
            Tool stop = Tool.Run("stop", ledger.Members[0].LogDirectory);
            Assert.Equal((0, ""), (stop.Code, stop.Error));
            Assert.StartsWith("r1: has ended\nr0: has ended\nnewest checkpoint: ckpt.", stop.Output);
            Assert.EndsWith(".r0\n", stop.Output); // the primary's own
            Assert.All(ledger.Members, static replica => Assert.Equal(0, replica.AwaitExit()));
            ledger.StartStopped();
            Finish(cluster, source);
        });
    }

    [Fact]
    public void Terminate_PrimaryWithAStandbyThatHasCaughtUp_HandsOverWithoutACheckpoint()
    {
        using var cluster = new Cluster();
        cluster.Run(Cluster.Again(nameof(Terminate_PrimaryWithAStandbyThatHasCaughtUp_HandsOverWithoutACheckpoint)), () =>
        {
            (ReplicaSet source, ReplicaSet ledger) = StartTwice(cluster);
            Replica first = ledger.Members[0];
            Signals.Terminate(first.Coordinator.Id);
            Assert.Equal(0, first.AwaitExit());
            first.AwaitLine("who goes on", static line => line == "replica r1 has caught up and goes on");
            ledger.Members[1].AwaitReady();
            Finish(cluster, source);
        });
    }

    /// <summary>Its coordinator cannot wait for its process, which others have started; but it is told, and has the time to end.</summary>
    [Fact]
    public void Terminate_AppStartedByHand_EndsWithZero()
    {
        using var cluster = new Cluster();
        (_, Replica ledger) = cluster.Pair(calls: 0);
        cluster.Run(Cluster.Again(nameof(Terminate_AppStartedByHand_EndsWithZero)), () =>
        {
            ledger.Start(withApp: false);
            string[] words = ledger.AwaitLine("app channel", static line => line.Contains("app channel ", StringComparison.Ordinal))
                .Split(' ', ',');
            Process app = ledger.StartApp(words[Array.IndexOf(words, "channel") + 1], words[Array.IndexOf(words, "token") + 1]);
            ledger.AwaitReady();
            Signals.Terminate(ledger.Coordinator.Id);
            Assert.True(app.WaitForExit(Cluster.Patience), "the app outlives its coordinator");
            Assert.Equal((0, 0), (app.ExitCode, ledger.AwaitExit()));
        });
    }

    /// <summary>The messages and timers that came from outside the app, from a place on.</summary>
    private static IEnumerable<string> InputsBehind(Replica replica, string lsn) =>
        from line in Tool.Run("log", replica.LogDirectory, "--records", "--from", lsn, "--json").Output
            .Split('\n', StringSplitOptions.RemoveEmptyEntries)
        let entry = JsonDocument.Parse(line).RootElement
        where entry.TryGetProperty("from", out JsonElement sender) ? sender.GetString() != replica.Name
            : entry.TryGetProperty("kind", out JsonElement kind) && kind.GetString() == "timerFired"
        select line;
}
