using System.Diagnostics;
using System.Net;
using System.Net.Sockets;
using System.Text.Json;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>Whoever comes first, late, elsewhere or twice: the calls wait and arrive.</summary>
public sealed class StartTests
{
    private const int Calls = 500;

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void Instances_StartedOneAfterTheOther_Agree(bool sourceFirst)
    {
        using var cluster = new Cluster();
        (Replica source, Replica ledger) = cluster.Pair(Calls);
        cluster.Run(Cluster.Again(nameof(StartTests)), () =>
        {
            Replica first = sourceFirst ? source : ledger, second = sourceFirst ? ledger : source;
            first.Start();
            first.AwaitReady();
            if (sourceFirst)
                source.AwaitLine("line about the absent peer",
                    static line => line.Contains("ledger is not in the catalog", StringComparison.Ordinal));
            second.Start();
            Cluster.AssertEqual(source, Calls);
        });
    }

    [Fact]
    public void Ledger_AwayAndBackOnAnotherPort_GetsEveryCall()
    {
        using var cluster = new Cluster();
        (Replica source, Replica ledger) = cluster.Pair(Calls);
        source.Settings["UNTIL"] = cluster.Until;
        cluster.Run(Cluster.Again(nameof(StartTests)), () =>
        {
            ledger.Start();
            source.Start();
            source.AwaitReady();
            ledger.AwaitReady();
            IPEndPoint old = AddressOf(cluster, "ledger");
            ledger.KillCoordinator();
            using var squatter = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
            squatter.SetSocketOption(SocketOptionLevel.Socket, SocketOptionName.ReuseAddress, true);
            squatter.Bind(old); // somebody else has the port now, and answers with silence
            squatter.Listen();
            source.AwaitLine("line about the lost peer", static line => line.Contains("ledger", StringComparison.Ordinal));
            ledger.Start();
            ledger.AwaitReady();
            Assert.NotEqual(old, AddressOf(cluster, "ledger"));
            File.Create(cluster.Until).Dispose();
            Cluster.AssertEqual(source, Calls);
        });
    }

    [Fact]
    public void App_StartedByHandAfterItsCoordinator_IsServed()
    {
        using var cluster = new Cluster();
        (Replica source, Replica ledger) = cluster.Pair(Calls);
        cluster.Run(Cluster.Again(nameof(StartTests)), () =>
        {
            source.Start();
            ledger.Start(withApp: false);
            source.AwaitReady();
            string[] words = ledger.AwaitLine("app channel", static line => line.Contains("app channel ", StringComparison.Ordinal))
                .Split(' ', ',');
            string channel = words[Array.IndexOf(words, "channel") + 1], token = words[Array.IndexOf(words, "token") + 1];
            Process app = ledger.StartApp(channel, token);
            Cluster.AssertEqual(source, Calls);
            ledger.KillCoordinator();
            Assert.True(app.WaitForExit(Cluster.Patience), "the app outlives its coordinator");
        });
    }

    [Fact]
    public void SecondCoordinator_OnTheSameDirectory_FollowsSaysSoAndTakesOver()
    {
        using var cluster = new Cluster();
        (Replica source, Replica ledger) = cluster.Pair(Calls);
        source.Settings["UNTIL"] = cluster.Until;
        Replica second = cluster.Add("ledger", "ledger");
        second.Options.AddRange(["--replica", "r1"]);
        cluster.Run(Cluster.Again(nameof(StartTests)), () =>
        {
            ledger.Start();
            ledger.AwaitReady();
            second.Start();
            second.AwaitLine("word that it follows",
                static line => line.Contains("another coordinator is primary of ledger", StringComparison.Ordinal));
            source.Start();
            source.AwaitReady();
            Assert.DoesNotContain(second.Lines.From(0), static line => line.StartsWith("ready ", StringComparison.Ordinal));
            ledger.KillCoordinator();
            Assert.Contains("epoch=2", second.AwaitReady());
            File.Create(cluster.Until).Dispose();
            Cluster.AssertEqual(source, Calls);
        });
    }

    [Fact]
    public void Coordinator_Terminated_EndsWithZeroAndReplaysNothing()
    {
        using var cluster = new Cluster();
        (Replica source, Replica ledger) = cluster.Pair(Calls);
        cluster.Run(Cluster.Again(nameof(StartTests)), () =>
        {
            ledger.Start();
            source.Start();
            Cluster.AssertEqual(source, Calls);
            foreach (Replica replica in new[] { source, ledger })
            {
                Signals.Terminate(replica.Coordinator.Id);
                Assert.Equal(0, replica.AwaitExit(TimeSpan.FromSeconds(20)));
                Assert.NotEmpty(Directory.EnumerateFiles(replica.LogDirectory, "ckpt.*"));
            }
            ledger.Start();
            string ready = ledger.AwaitReady();
            int replayed = int.Parse(ready.Split("replayed=")[1].Split(' ')[0]);
            Assert.True(replayed < 10, ready);
        });
    }

    internal static IPEndPoint AddressOf(Cluster cluster, string instance)
    {
        string file = Directory.EnumerateFiles(Path.Combine(cluster.Root, "catalog"), $"{instance}.*")
            .MaxBy(static path => long.Parse(path[(path.LastIndexOf('.') + 1)..]))!;
        using JsonDocument entry = JsonDocument.Parse(File.ReadAllText(file));
        return IPEndPoint.Parse(entry.RootElement.GetProperty("replicas")[0].GetProperty("address").GetString()!);
    }
}
