using Ambrosia.TestKit;
using Xunit.Abstractions;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>
/// Two replicas of an instance on two machines that share a GlusterFS volume: they are killed, stopped and cut off, and every call counts
/// once; and a machine that remembers names is refused before it can do harm (log-format L7.10).
/// </summary>
public sealed class GlusterTests(ITestOutputHelper output)
{
    /// <summary>A round takes seconds: where others do a tenth, these do a fiftieth.</summary>
    private const int RoundsOfARelease = 200, RoundsOfACommit = 4, CallsOfARelease = 20_000, Port = 4711;
    private static readonly TimeSpan s_patience = TimeSpan.FromMinutes(3);

    [GlusterFact]
    public void Replicas_OnTwoMachinesThatAreKilledStoppedAndCutOff_AgreeOnEveryCall()
    {
        var chance = new Chance();
        int rounds = TestScale.Value < 1 ? RoundsOfACommit : TestScale.Rounds(RoundsOfARelease), calls = TestScale.Rounds(CallsOfARelease);
        output.WriteLine($"{rounds} rounds, seed {chance.Seed}");
        using var cluster = new Cluster();
        using var machines = new GlusterMachines(cluster.Root, withoutCaches: true, GlusterMachines.Coherent, GlusterMachines.Coherent);
        using var shared = new SharedInstance(cluster, machines);
        Replica source = Source(cluster, machines, calls);
        cluster.Run(chance.Again(nameof(Replicas_OnTwoMachinesThatAreKilledStoppedAndCutOff_AgreeOnEveryCall)), () =>
        {
            shared.Start(0);
            source.Start(null, true, machines.OnServer);
            source.AwaitReady();
            shared.Start(1);
            for (int round = 0; round < rounds; round++)
            {
                shared.AwaitProof();
                AwaitCalls(source);
                shared.Disturb((Disturbance)(round % 4), chance);
                AwaitCalls(source);
                shared.Mend();
            }
            File.Create(cluster.Until).Dispose();
            Cluster.AssertEqual(source, calls, s_patience);
            shared.AssertCodes();
            Assert.Null(source.Lines.Find(static line => line.StartsWith("exit ", StringComparison.Ordinal)));
        });
        output.WriteLine($"take-overs: {string.Join(", ", shared.TakeOvers.Select(static time => $"{time.TotalMilliseconds:F0} ms"))}");
    }

    /// <summary>
    /// Negative controls: the volume as it comes, and mounts that remember names for 5 s, and pages for ever. A commit has one of them.
    /// </summary>
    [GlusterFact]
    public void Replica_OnAMachineThatRemembers_IsRefusedBeforeItMayClaim()
    {
        const string names = "a renamed file was seen under its old name for", content = "a file that was written and flushed was read as it was before for";
        (bool WithoutCaches, string Options, string What)[] cases =
        [
            (false, GlusterMachines.Coherent, names), (true, "auto-invalidation=on,entry-timeout=5", names),
            (true, GlusterMachines.RemembersContent, content),
        ];
        if (TestScale.Value < 1) cases = [cases[new Chance().Below(cases.Length)]];
        foreach ((bool withoutCaches, string options, string what) in cases)
        {
            using var cluster = new Cluster();
            using var machines = new GlusterMachines(cluster.Root, withoutCaches, GlusterMachines.Coherent, options);
            using var shared = new SharedInstance(cluster, machines);
            cluster.Run(Cluster.Again(nameof(Replica_OnAMachineThatRemembers_IsRefusedBeforeItMayClaim)), () =>
            {
                shared.Start(0);
                Replica second = shared.Start(1);
                Assert.Equal(2, second.AwaitExit());
                string why = second.AwaitLine("reason", static line => line.StartsWith("exit 2: ", StringComparison.Ordinal));
                Assert.Contains($"sees late: {what}", why, StringComparison.Ordinal);
                output.WriteLine(why);
            });
        }
    }

    /// <summary>The only machine was restarted: nobody is there to meet, and an operator says so.</summary>
    [GlusterFact(TakesAMinute = true)]
    public void Replica_OnAnotherMachineThanTheDeadPrimary_ClaimsNothingUntilItIsSaidToBeAlone()
    {
        using var cluster = new Cluster();
        using var machines = new GlusterMachines(cluster.Root, withoutCaches: true, GlusterMachines.Coherent, GlusterMachines.Coherent);
        using var shared = new SharedInstance(cluster, machines);
        cluster.Run(Cluster.Again(nameof(Replica_OnAnotherMachineThanTheDeadPrimary_ClaimsNothingUntilItIsSaidToBeAlone)), () =>
        {
            shared.Start(0).KillCoordinator();
            Replica other = shared.Start(1);
            other.AwaitLine("word that nobody is there", static line => line.Contains("was another machine's", StringComparison.Ordinal));
            other.KillCoordinator();
            other.Options.Add("--alone");
            other.Start(null, true, machines.Inside(1));
            other.AwaitLine("ready line", static line => line.StartsWith("ready ", StringComparison.Ordinal), s_patience);
            Assert.Equal(2UL, ReplicaSet.EpochOf(other));
        });
    }

    /// <summary>A caller of the shared instance, with its log on a disk of its own.</summary>
    private static Replica Source(Cluster cluster, GlusterMachines machines, int calls)
    {
        Replica source = cluster.Add("source", "source");
        source.Settings["CALLS"] = $"{calls}";
        source.Settings["BURST"] = "20";
        source.Settings["UNTIL"] = cluster.Until;
        source.Options.AddRange(["--insecure", "--listen", $"{GlusterMachines.ServerAddress}:{Port}"]);
        return source;
    }

    private static void AwaitCalls(Replica source)
    {
        ulong before = Acknowledged(source);
        Cluster.Await("calls that arrive", () => Acknowledged(source) > before + 20, s_patience);
    }

    private static ulong Acknowledged(Replica source) =>
        (ulong?)source.Status()?["outboxes"]?.AsArray().FirstOrDefault(static box => (string?)box!["to"] == "ledger")?["trimmed"] ?? 0;
}
