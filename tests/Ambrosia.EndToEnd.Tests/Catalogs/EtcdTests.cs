using System.Diagnostics;
using Ambrosia.TestKit;
using Xunit.Abstractions;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>Instances whose names are in an etcd: its leader dies, all of it dies, and a store that is silent or mad stops
/// nobody.</summary>
public sealed class EtcdTests(ITestOutputHelper output)
{
    private const int LeadersOfARelease = 10, LeadersMin = 2, CallsOfARelease = 40_000;
    private const int PauseMsMax = 400;
    private static readonly Dictionary<string, string> s_none = [];

    /// <summary>A release does without any etcd for a minute; a commit for as long as a record takes.</summary>
    private static readonly TimeSpan s_withoutEtcd = TimeSpan.FromMinutes(TestScale.Value < 1 ? 0 : 1);

    [EtcdFact]
    public void Instances_WhoseEtcdAndWhoThemselvesAreKilled_AgreeOnEveryCall()
    {
        var chance = new Chance();
        int kills = Math.Max(LeadersMin, TestScale.Rounds(LeadersOfARelease)), calls = TestScale.Rounds(CallsOfARelease);
        output.WriteLine($"{kills} leaders killed, seed {chance.Seed}");
        using var etcd = new EtcdServers(3);
        using var cluster = new Cluster();
        (Replica source, Replica ledger) = Pair(cluster, calls, $"etcd://{etcd.Endpoints}/shop");
        cluster.Run(chance.Again(nameof(Instances_WhoseEtcdAndWhoThemselvesAreKilled_AgreeOnEveryCall)), () =>
        {
            ledger.Start();
            source.Start();
            ledger.AwaitReady();
            source.AwaitReady();
            for (int kill = 0; kill < kills; kill++)
            {
                int leader = etcd.FindLeader();
                etcd.Kill(leader);
                chance.PassTime(PauseMsMax);
                Replica victim = chance.Coin() ? source : ledger;
                victim.KillApp();
                victim.AwaitReady();
                etcd.Start(leader);
                victim.KillCoordinator();
                etcd.AwaitReady();
                victim.Start();
                victim.AwaitReady();
            }
            ledger.AwaitRecords("over the link that stays");
            etcd.KillAll();
            long gone = Stopwatch.GetTimestamp();
            do ledger.AwaitRecords("while there is no etcd at all");
            while (Stopwatch.GetElapsedTime(gone) < s_withoutEtcd);
            ledger.KillApp();
            ledger.AwaitReady(); // the address did not change, and whoever has the link keeps it
            ledger.AwaitRecords("behind a death of the app without an etcd");
            etcd.StartAll();
            File.Create(cluster.Until).Dispose();
            Cluster.AssertEqual(source, calls);
            cluster.AssertNoneGaveUp();
            Tool status = Tool.Run("status", "--catalog", $"etcd://{etcd.Endpoints}/shop");
            Assert.Equal(0, status.Code);
            Assert.Contains("ledger", status.Output, StringComparison.Ordinal);
            OperatorCommands.AssertRight(cluster, $"etcd://{etcd.Endpoints}/shop", s_none, source, ledger);
        });
        Assert.False(Directory.Exists(cluster.Catalog));
    }

    /// <summary>A standby that takes over from a primary whose heartbeat stands still for the usual limit is the witness.</summary>
    [EtcdFact]
    public void Primary_WhoseStoreIsGoneSlowSilentOrMad_GoesOnAndStaysPrimary()
    {
        using var etcd = new EtcdServers(1);
        using var relay = new StoreRelay(etcd.Endpoints);
        using var cluster = new Cluster();
        string place = $"etcd://{relay.Address}/shop";
        (Replica source, Replica ledger) = Pair(cluster, 1000, place);
        cluster.Run(Cluster.Again(nameof(Primary_WhoseStoreIsGoneSlowSilentOrMad_GoesOnAndStaysPrimary)), () =>
        {
            ledger.Start();
            ledger.AwaitReady();
            source.Start();
            source.AwaitReady();
            ledger.AwaitRecords("over the link that is made now and stays");
            using Replica standby = new(cluster.Root, "ledger", "ledger");
            standby.Options.AddRange([.. ledger.Options, "--replica", "r1"]);
            standby.Start();
            // The slow one comes first: what it holds back is answered at its end, which ends a trouble.
            StoreRelay.Manner[] bad =
                [StoreRelay.Manner.Slow, StoreRelay.Manner.Gone, StoreRelay.Manner.Silent, StoreRelay.Manner.Rubbish];
            int told = 0;
            foreach (StoreRelay.Manner manner in bad)
            {
                if (manner == StoreRelay.Manner.Gone) told = CountTold(ledger);
                relay.Turn(manner);
                Cluster.Await($"the primary asks a store that is {manner}", () => relay.Came >= 2);
                ledger.AwaitRecords($"while the store is {manner}");
                Assert.Equal("primary", (string?)ledger.Status()?["role"]);
                Assert.Equal(1UL, (ulong?)ledger.Status()?["epoch"]);
            }
            ledger.AwaitLine("word of the store", static line =>
                line.StartsWith("catalog: the entry of ledger cannot be published", StringComparison.Ordinal));
            Assert.True(CountTold(ledger) - told <= 1, "the trouble of stores that never answer is told once");
            relay.Turn(StoreRelay.Manner.Passing);
            Cluster.Await("the primary publishes again", () => relay.Came >= 1);
            File.Create(cluster.Until).Dispose();
            Cluster.AssertEqual(source, 1000);
            cluster.AssertNoneGaveUp();
        });
    }

    private static int CountTold(Replica ledger) => ledger.Lines.From(0)
        .Count(static line => line.StartsWith("catalog: the entry of ledger cannot", StringComparison.Ordinal));

    [EtcdFact]
    public void Commands_OfOperators_FindTheCatalogInEtcd()
    {
        using var etcd = new EtcdServers(1);
        using var cluster = new Cluster();
        cluster.Run(Cluster.Again(nameof(Commands_OfOperators_FindTheCatalogInEtcd)), () => OperatorCommands.AssertWork(
            cluster, $"etcd://{etcd.Endpoints}/shop", Executables.Coordinator, s_none));
        Assert.False(Directory.Exists(cluster.Catalog));
    }

    [EtcdFact]
    public void Catalog_ThatIsCopied_IsUsedWhereItWent_AndRefusedWhileSomebodyRuns()
    {
        using var etcd = new EtcdServers(1);
        using var cluster = new Cluster();
        Replica ledger = cluster.Add("ledger", "ledger");
        string place = $"etcd://{etcd.Endpoints}/shop";
        cluster.Run(Cluster.Again(nameof(Catalog_ThatIsCopied_IsUsedWhereItWent_AndRefusedWhileSomebodyRuns)), () =>
        {
            ledger.Start();
            ledger.AwaitReady();
            Assert.False(HasHttp(ledger)); // which takes a start and memory from whoever has no store
            Tool refused = Tool.Run("catalog", "copy", cluster.Catalog, place);
            Assert.Equal(2, refused.Code);
            Assert.Contains("'ledger' is not stopped", refused.Error, StringComparison.Ordinal);
            ledger.StopCoordinator();
            Tool copied = Tool.Run("catalog", "copy", cluster.Catalog, place);
            Assert.True(copied.Code == 0, copied.Error);
            Assert.Contains("1 entry and the secret", copied.Output, StringComparison.Ordinal);
            Assert.Equal(0, Tool.Run("catalog", "copy", cluster.Catalog, place).Code); // again is as once
            ledger.Options.AddRange(["--catalog", place, "--insecure"]);
            ledger.Start();
            ledger.AwaitReady();
            Assert.True(HasHttp(ledger) || !File.Exists(Executables.Coordinator + ".dll")); // a native file has it in itself
            ledger.StopCoordinator();
            string back = Path.Combine(cluster.Root, "back");
            Assert.Equal(0, Tool.Run("catalog", "copy", place, back).Code);
            Assert.Equal(File.ReadAllBytes(Path.Combine(cluster.Catalog, "secret")), File.ReadAllBytes(Path.Combine(back, "secret")));
            Tool other = Tool.Run("catalog", "copy", place, cluster.Catalog);
            Assert.Equal(2, other.Code); // its entry is of the epoch before
            Assert.Contains("holds something else", other.Error, StringComparison.Ordinal);
        });
    }

    /// <summary>Whether a coordinator has loaded anything for HTTP or TLS.</summary>
    private static bool HasHttp(Replica replica) => File.ReadLines($"/proc/{replica.Coordinator.Id}/maps").Any(static line =>
        line.Contains("System.Net.Http", StringComparison.Ordinal) || line.Contains("libssl", StringComparison.Ordinal));

    private static (Replica Source, Replica Ledger) Pair(Cluster cluster, int calls, string place)
    {
        (Replica source, Replica ledger) = cluster.Pair(calls, burst: 20);
        source.Settings["UNTIL"] = cluster.Until;
        foreach (Replica each in new[] { source, ledger }) each.Options.AddRange(["--catalog", place, "--insecure"]);
        return (source, ledger);
    }
}
