using System.Diagnostics;
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
        int rounds = TestScale.Value <= 0.1 ? RoundsOfACommit : TestScale.Rounds(RoundsOfARelease), calls = TestScale.Rounds(CallsOfARelease);
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
                AwaitCalls(source, shared);
                shared.Disturb((Disturbance)(round % 4), chance);
                AwaitCalls(source, shared);
                shared.Mend();
                if (round % 20 == 19) output.WriteLine($"{round + 1} rounds, {Acknowledged(source)} calls");
            }
            AssertEnd(cluster, source, shared, calls);
            shared.AssertCodes();
            shared.AssertWhole();
            foreach (Tool doctor in shared.Meet()) Assert.True(doctor.Code == 0, doctor.Output + doctor.Error);
            if (rounds >= RoundsOfARelease) Assert.True(shared.CutsInTheMiddle > 0, shared.Cuts);
            Assert.Null(source.Lines.Find(static line => line.StartsWith("exit ", StringComparison.Ordinal)));
        });
        output.WriteLine($"take-overs that were cut off: {shared.Cuts}");
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
                Tool[] doctors = shared.Meet();
                Assert.Contains(doctors, static each => each.Code == 1);
                foreach (Tool doctor in doctors) output.WriteLine(doctor.Output);
            });
        }
    }

    /// <summary>Nothing is on one machine: the log is on the volume, the names are in etcd, and primaries are killed in turn.</summary>
    [GlusterFact(TakesAMinute = true, WantsEtcd = true)]
    public void Primary_KilledWithTheLogOnAVolumeAndTheNamesInEtcd_IsReplacedAndNothingIsLost()
    {
        const int kills = 20;
        using var cluster = new Cluster();
        using var machines = new GlusterMachines(cluster.Root, withoutCaches: true, GlusterMachines.Coherent, GlusterMachines.Coherent);
        string place = machines.StartEtcd();
        using var shared = new SharedInstance(cluster, machines, place);
        Replica source = Source(cluster, machines, CallsOfARelease);
        source.Options.AddRange(["--catalog", place]);
        cluster.Run(Cluster.Again(nameof(Primary_KilledWithTheLogOnAVolumeAndTheNamesInEtcd_IsReplacedAndNothingIsLost)), () =>
        {
            shared.Start(0);
            source.Start(null, true, machines.OnServer);
            source.AwaitReady();
            shared.Start(1);
            var served = new List<double>();
            for (int kill = 0; kill < kills; kill++)
            {
                shared.AwaitProof();
                AwaitCalls(source, shared);
                long begun = Stopwatch.GetTimestamp();
                shared.Disturb(Disturbance.Kill, new Chance());
                AwaitCalls(source, shared);
                served.Add(Stopwatch.GetElapsedTime(begun).TotalMilliseconds);
                shared.Mend();
            }
            AssertEnd(cluster, source, shared, CallsOfARelease);
            shared.AssertCodes();
            shared.AssertWhole();
            Assert.False(Directory.Exists(cluster.Catalog));
            output.WriteLine($"ms from kill -9 until the other was ready: {Sorted(shared.TakeOvers.Select(static time => time.TotalMilliseconds))}");
            output.WriteLine($"ms until it had acknowledged 20 calls: {Sorted(served)}");
        });
    }

    private static string Sorted(IEnumerable<double> milliseconds) => string.Join(' ', milliseconds.Order().Select(static each => $"{each:F0}"));

    /// <summary>
    /// What the proof is for: without it a primary that is replaced on a machine that remembers names goes on for a while, and what it
    /// acknowledges then is lost. The source sees it: its peer has less than it has acknowledged. Nothing is lost where nobody remembers.
    /// </summary>
    [GlusterTheory(TakesAMinute = true)]
    [InlineData(true, GlusterMachines.Coherent, false)]
    [InlineData(false, GlusterMachines.Coherent, true)]
    [InlineData(true, "auto-invalidation=on,entry-timeout=5", true)]
    public void Primary_ReplacedWithoutTheProof_LosesCallsWhereNamesAreRemembered(bool withoutCaches, string options, bool isLost)
    {
        const int replacements = 12;
        using var cluster = new Cluster();
        using var machines = new GlusterMachines(cluster.Root, withoutCaches, options, options);
        using var shared = new SharedInstance(cluster, machines, null, "--unsafe-no-proof");
        Replica source = Source(cluster, machines, TestScale.Rounds(CallsOfARelease));
        bool HasLost() => source.Lines.Find(static line => line.Contains("its log is older", StringComparison.Ordinal)) is not null;
        cluster.Run(Cluster.Again(nameof(Primary_ReplacedWithoutTheProof_LosesCallsWhereNamesAreRemembered)), () =>
        {
            shared.Start(0).AwaitLine("a warning", static line => line.Contains("--unsafe-no-proof", StringComparison.Ordinal));
            source.Start(null, true, machines.OnServer);
            source.AwaitReady();
            shared.Start(1);
            int made = 0;
            for (; made < replacements && !HasLost(); made++)
            {
                AwaitCalls(source, shared, HasLost);
                if (!HasLost()) shared.Promote();
            }
            AwaitCalls(source, shared, HasLost);
            output.WriteLine($"{made} replacements, {(HasLost() ? "acknowledged calls are lost" : "nothing is lost")}");
            Assert.Equal(isLost, HasLost());
            if (isLost) return;
            AssertEnd(cluster, source, shared, calls: 1);
        });
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
            ReplicaSet.AwaitCaughtUp(other); // it follows what is there
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
        source.Options.AddRange(["--insecure", "--checkpoint-every", "4M", "--listen", $"{GlusterMachines.ServerAddress}:{Port}"]);
        return source;
    }

    private static void AwaitCalls(Replica source, SharedInstance shared, Func<bool>? isOver = null)
    {
        ulong before = Acknowledged(source);
        Cluster.Await("calls that arrive", () =>
        {
            shared.RestartEnded();
            return Acknowledged(source) > before + 20 || isOver?.Invoke() == true;
        }, s_patience);
    }

    /// <summary>The load ends, and all has come once.</summary>
    private static void AssertEnd(Cluster cluster, Replica source, SharedInstance shared, int calls)
    {
        File.Create(cluster.Until).Dispose();
        Cluster.Await("a verdict", () =>
        {
            shared.RestartEnded();
            return source.Lines.Find(static line => line.StartsWith("verdict ", StringComparison.Ordinal)) is not null;
        }, s_patience);
        Cluster.AssertEqual(source, calls);
    }

    private static ulong Acknowledged(Replica source) =>
        (ulong?)source.Status()?["outboxes"]?.AsArray().FirstOrDefault(static box => (string?)box!["to"] == "ledger")?["trimmed"] ?? 0;
}
