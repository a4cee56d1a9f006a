using Ambrosia.TestKit;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>A primary dies under load and a standby goes on: nothing lost, nothing doubled, order kept.</summary>
public sealed class FailoverTests(ITestOutputHelper output) : ReplicaTests
{
    private const int KillsOfARelease = 50, KillsMin = 3;
    private const int PauseMsMax = 300;

    private static int Kills => Math.Max(KillsMin, TestScale.Rounds(KillsOfARelease));

    [Fact]
    public void Primary_KilledAgainAndAgain_StandbyGoesOn()
    {
        var chance = new Chance();
        using var cluster = new Cluster();
        cluster.Run(chance.Again(nameof(Primary_KilledAgainAndAgain_StandbyGoesOn)), () =>
        {
            (ReplicaSet source, ReplicaSet ledger) = Pair(cluster);
            ledger.Start(2);
            source.Start(1);
            for (int kill = 0; kill < Kills; kill++) FailOver(ledger, chance);
            output.WriteLine($"{Kills} kills, seed {chance.Seed}");
            Finish(cluster, source);
            cluster.AssertNoneGaveUp();
        });
    }

    [Fact]
    public void PrimariesOfBothSides_Killed_StandbysGoOn()
    {
        var chance = new Chance();
        using var cluster = new Cluster();
        cluster.Run(chance.Again(nameof(PrimariesOfBothSides_Killed_StandbysGoOn)), () =>
        {
            (ReplicaSet source, ReplicaSet ledger) = Pair(cluster);
            ledger.Start(2);
            source.Start(2);
            for (int kill = 0; kill < Kills; kill++)
            {
                foreach (ReplicaSet set in new[] { source, ledger }) ReplicaSet.AwaitCaughtUp(set.Standby());
                chance.PassTime(PauseMsMax);
                source.Primary().KillCoordinator();
                ledger.Primary().KillCoordinator();
                foreach (ReplicaSet set in new[] { source, ledger })
                {
                    set.Primary();
                    set.StartStopped();
                }
            }
            Finish(cluster, source);
            cluster.AssertNoneGaveUp();
        });
    }

    [Fact]
    public void AllReplicas_KilledAtOnce_OneOfThemGoesOn()
    {
        var chance = new Chance();
        using var cluster = new Cluster();
        cluster.Run(chance.Again(nameof(AllReplicas_KilledAtOnce_OneOfThemGoesOn)), () =>
        {
            (ReplicaSet source, ReplicaSet ledger) = Pair(cluster);
            ledger.Start(3);
            source.Start(1);
            for (int kill = 0; kill < Kills; kill++)
            {
                chance.PassTime(PauseMsMax);
                ledger.KillAll();
                ledger.StartStopped(); // whoever is first
                ledger.Primary();
            }
            Finish(cluster, source);
            cluster.AssertNoneGaveUp();
        });
    }

    [Fact]
    public void Replica_AddedJustBeforeTheKill_FollowsWhoeverIsPrimary()
    {
        var chance = new Chance();
        using var cluster = new Cluster();
        cluster.Run(chance.Again(nameof(Replica_AddedJustBeforeTheKill_FollowsWhoeverIsPrimary)), () =>
        {
            (ReplicaSet source, ReplicaSet ledger) = Pair(cluster);
            ledger.Start(3);
            source.Start(1);
            foreach (Replica member in ledger.Members) ReplicaSet.AwaitCaughtUp(member);
            Replica fourth = ledger.Add().Start();
            chance.PassTime(100);
            ledger.Primary().KillCoordinator();
            ledger.Primary();
            ReplicaSet.AwaitCaughtUp(fourth);
            Finish(cluster, source);
            cluster.AssertNoneGaveUp();
        });
    }

    /// <summary>The one that takes over dies at each step of it; the next one does it again.</summary>
    [Theory]
    [MemberData(nameof(Steps))]
    public void TakeOver_KilledAtAStep_AnotherTakesOver(string step)
    {
        using var cluster = new Cluster();
        cluster.Run(Cluster.Again(step), () =>
        {
            (ReplicaSet source, ReplicaSet ledger) = Pair(cluster);
            ledger.Start(1);
            source.Start(1);
            Replica dying = ledger.Add().Start(crashAt: step);
            ReplicaSet.AwaitCaughtUp(dying);
            ledger.Primary().KillCoordinator();
            Assert.Equal(Signals.KilledExitCode, dying.AwaitExit());
            ledger.Add().Start();
            Assert.Equal("r2", ledger.Primary().Options[1]);
            Finish(cluster, source);
            cluster.AssertNoneGaveUp();
        });
    }

    public static IEnumerable<object[]> Steps() => CrashPoints.Promotion.Select(static step => new object[] { step });

    private static void FailOver(ReplicaSet set, Chance chance)
    {
        Replica standby = set.Standby();
        ReplicaSet.AwaitCaughtUp(standby);
        chance.PassTime(PauseMsMax);
        set.Primary().KillCoordinator();
        standby.AwaitReady();
        set.StartStopped();
    }
}
