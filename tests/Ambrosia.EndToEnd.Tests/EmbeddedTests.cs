using System.Diagnostics;
using Ambrosia.TestKit;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>Coordinators in the app's own process: the same promises when the whole of it is killed.</summary>
public sealed class EmbeddedTests(ITestOutputHelper output)
{
    private const int KillsOfARelease = 100, KillsMin = 8, CallsOfARelease = 50_000;
    private const int PauseMsMax = 700;
    private const int Many = 24, KillsOfManyMin = 3;

    /// <summary>Two immortals in one process call each other, or two processes hold one each.</summary>
    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    public void Hosts_KilledAgainAndAgain_AgreeOnEveryCall(int processes)
    {
        var chance = new Chance();
        int kills = Math.Max(KillsMin, TestScale.Rounds(KillsOfARelease)), calls = TestScale.Rounds(CallsOfARelease);
        output.WriteLine($"{kills} kills of {processes} processes, seed {chance.Seed}");
        using var cluster = new Cluster();
        Replica[] hosts = processes == 1 ? [cluster.AddHost("both", "source,ledger")]
            : [cluster.AddHost("source", "source"), cluster.AddHost("ledger", "ledger")];
        foreach (Replica host in hosts)
        {
            host.Settings["CALLS"] = $"{calls}";
            host.Settings["BURST"] = "50";
            host.Settings["UNTIL"] = cluster.Until;
            host.Options.AddRange(["--checkpoint-every", "1M"]);
        }
        cluster.Run(chance.Again($"processes: {processes}"), () =>
        {
            foreach (Replica host in hosts) host.Start();
            for (int kill = 0; kill < kills; kill++)
            {
                chance.PassTime(PauseMsMax);
                Replica dying = hosts[chance.Below(hosts.Length)];
                dying.KillCoordinator();
                dying.Start();
                // else the next blow may fall into the recovery
                if (chance.Coin()) AwaitReady(dying, processes == 1 ? "ledger" : dying.Name);
            }
            File.Create(cluster.Until).Dispose();
            Cluster.AssertEqual(hosts[0], calls);
            cluster.AssertNoneGaveUp();
        });
    }

    private static void AwaitReady(Replica host, string instance) =>
        host.AwaitLine("ready line", line => line.Contains($"ready instance={instance} ", StringComparison.Ordinal));

    /// <summary>
    /// Many immortals in one process, a ring of awaited calls through all of them, with checkpoints of suspended
    /// handlers: killed as a whole.
    /// </summary>
    [Fact]
    public void HostOfMany_KilledAgainAndAgain_AnswersEachCallOnce()
    {
        var chance = new Chance();
        using var cluster = new Cluster();
        string[] names = [.. Enumerable.Range(1, Many).Select(static number => $"ring{number}")];
        Replica host = cluster.AddHost("all", "ring");
        (host.Settings["RING"], host.Settings["LANES"], host.Settings["HOPS"],
            host.Settings["UNTIL"]) = (string.Join(',', names), "4", $"{Many}", cluster.Until);
        host.Options.AddRange(["--checkpoint-every", "32K", "--checkpoint-bound", "1"]);
        cluster.Run(chance.Again(nameof(HostOfMany_KilledAgainAndAgain_AnswersEachCallOnce)), () =>
        {
            host.Start();
            int kills = Math.Max(KillsOfManyMin, TestScale.Rounds(KillsOfARelease / 4));
            for (int kill = 0; kill < kills; kill++)
            {
                // else the blow may fall into the recovery
                if (kill == 0 || chance.Coin())
                    host.AwaitLine("checkpoint", line => line.StartsWith($"{names[0]}: checkpoint ", StringComparison.Ordinal));
                chance.PassTime(PauseMsMax);
                host.KillCoordinator();
                host.Start();
            }
            foreach (string name in names) AwaitReady(host, name);
            File.Create(cluster.Until).Dispose();
            Assert.StartsWith("verdict equal: ",
                host.AwaitLine("verdict", static line => line.StartsWith("verdict ", StringComparison.Ordinal)));
            cluster.AssertNoneGaveUp();
            // from a checkpoint with suspended handlers
            Assert.NotNull(host.Lines.Find(static line => line.Contains("Continues ", StringComparison.Ordinal)));
            output.WriteLine(
                $"{kills} kills, seed {chance.Seed}: {host.Lines.Find(static line => line.StartsWith("verdict ", StringComparison.Ordinal))}");
        });
    }

    /// <summary>Replicas of one instance in two processes: the other goes on, and the killed one follows when it is back.</summary>
    [Fact]
    public void Hosts_OfOneInstance_TakeOverFromEachOther()
    {
        using var cluster = new Cluster();
        Replica source = cluster.AddHost("source", "source");
        Replica[] ledgers = [cluster.AddHost("ledger", "ledger"), cluster.AddHost("ledger", "ledger")];
        source.Settings["CALLS"] = "3000";
        source.Settings["UNTIL"] = cluster.Until;
        for (int i = 0; i < 2; i++) ledgers[i].Options.AddRange(["--replica", $"r{i}", "--checkpoint-every", "256K"]);
        cluster.Run(Cluster.Again(nameof(Hosts_OfOneInstance_TakeOverFromEachOther)), () =>
        {
            source.Start();
            ledgers[0].Start().AwaitReady();
            ledgers[1].Start();
            for (int turn = 0; turn < 4; turn++)
            {
                Replica primary = ledgers[turn % 2], standby = ledgers[1 - turn % 2];
                ReplicaSet.AwaitCaughtUp(standby);
                primary.KillCoordinator();
                standby.AwaitReady();
                primary.Start();
            }
            File.Create(cluster.Until).Dispose();
            Cluster.AssertEqual(source, 3000);
        });
    }

    /// <summary>The example of docs/programming-model.md: logs and catalog lie below --log.</summary>
    [Fact]
    public void Host_OfTwoNames_HasTheirLogsBelow()
    {
        using var cluster = new Cluster();
        Replica host = cluster.AddHost("both", "books,copies");
        cluster.Run(Cluster.Again(nameof(Host_OfTwoNames_HasTheirLogsBelow)), () =>
        {
            host.Start();
            AwaitReady(host, "books");
            AwaitReady(host, "copies");
            Assert.Equal(["books", "catalog", "copies"],
                Directory.EnumerateDirectories(host.LogDirectory).Select(static path => Path.GetFileName(path)).Order());
        });
    }

    /// <summary>SIGTERM: checkpoints or seals, and 0; the next start replays from there.</summary>
    [Fact]
    public void Host_Terminated_EndsWithZeroAndGoesOn()
    {
        using var cluster = new Cluster();
        Replica host = cluster.AddHost("both", "source,ledger");
        host.Settings["CALLS"] = "1000";
        host.Settings["UNTIL"] = cluster.Until;
        cluster.Run(Cluster.Again(nameof(Host_Terminated_EndsWithZeroAndGoesOn)), () =>
        {
            host.Start();
            AwaitReady(host, "source");
            AwaitReady(host, "ledger");
            Process.Start("kill", ["-TERM", $"{host.Coordinator.Id}"])!.WaitForExit();
            Assert.Equal(0, host.AwaitExit());
            host.Start();
            File.Create(cluster.Until).Dispose();
            Cluster.AssertEqual(host, 1000);
        });
    }

    /// <summary>One immortal that has to end ends the process, with its code.</summary>
    [Fact]
    public void Host_OneImmortalStops_EndsWithItsCode()
    {
        using var cluster = new Cluster();
        Replica host = cluster.AddHost("both", "source,ledger");
        host.Settings["THROW"] = "100";
        host.Options.AddRange(["--fork-policy", "stop"]);
        cluster.Run(Cluster.Again(nameof(Host_OneImmortalStops_EndsWithItsCode)), () =>
        {
            host.Start();
            Assert.Equal(1, host.AwaitExit());
            host.AwaitLine("why",
                static line => line.StartsWith("ledger: ", StringComparison.Ordinal)
                    && line.Contains("the fork policy is to stop", StringComparison.Ordinal));
            host.Options[^1] = "continue";
            host.Start();
            Cluster.AssertEqual(host, 1000);
        });
    }

    [Theory]
    [InlineData("--app-socket is for one immortal", "--app-socket", "/tmp/never.sock")]
    [InlineData("--instance other names one of 2 immortals", "--instance", "other")]
    [InlineData("'1.5' of --checkpoint-every is no size", "--checkpoint-every", "1.5")]
    public void Host_MisusedOption_IsRefusedAndNothingIsMade(string line, params string[] options)
    {
        using var cluster = new Cluster();
        Replica host = cluster.AddHost("both", "source,ledger");
        host.Options.AddRange(options);
        host.Start();
        Assert.Equal(2, host.AwaitExit());
        host.AwaitLine("why", text => text.StartsWith(line, StringComparison.Ordinal));
        Assert.False(Directory.Exists(host.LogDirectory));
        cluster.Passed();
    }

    /// <summary>Negative control: a host whose ledger forgets one call is found out.</summary>
    [Fact]
    public void Host_LedgerForgetsOneCall_Disagrees()
    {
        using var cluster = new Cluster();
        Replica host = cluster.AddHost("both", "source,ledger");
        host.Settings["FORGET"] = "123";
        host.Settings["CALLS"] = "200";
        host.Start();
        Assert.StartsWith("verdict different: ",
            host.AwaitLine("verdict", static line => line.StartsWith("verdict ", StringComparison.Ordinal)));
        cluster.Passed();
    }
}
