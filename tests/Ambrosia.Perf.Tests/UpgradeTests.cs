using Ambrosia.TestKit;

namespace Ambrosia.Perf.Tests;

/// <summary>Upgrades whose pauses are measured, with real processes and little work; and what is made of the pauses.</summary>
public sealed class UpgradeTests : IDisposable
{
    private readonly string _directory = Directory.CreateTempSubdirectory("perf-test-").FullName;

    /// <summary>Both builds become each other, one fault of each kind is survived, and each call was executed once.</summary>
    [Fact]
    public void Upgrade_OfEachKind_IsMeasuredInTurn()
    {
        UpgradeKind[] kinds = Enum.GetValues<UpgradeKind>();
        int rounds = TestScale.Value < 1 ? 1 : 2; // a round has each build become the other
        UpgradeResult found = Run(new UpgradePlan(kinds, [1], rounds, RoundsOfOthers: 1));

        UpgradePauses pauses = Assert.Single(found.Pauses);
        Assert.Equal(rounds == 1 ? kinds : [.. kinds, .. kinds.Reverse()], pauses.Each.Select(static each => each.Kind));
        Assert.All(pauses.Each, static each => Assert.True(each.PauseMs > 0 && each.QuietMs > 0));
        Assert.All(pauses.Each, static each => Assert.Equal(each.Kind == UpgradeKind.Failover, each.Rehearsed is null));
        Assert.True(pauses is { ReplicaByFailover: > 0, BesideByReplica: > 0, ReplicaPredictedByReal: > 0, BesidePredictedByReal: >= 0 });
    }

    [Fact]
    public void Rehearsals_ThatAreRefused_AreComparedByPairs_AndATrialOfTheUpgradeIsAlike()
    {
        UpgradeResult found = Run(new UpgradePlan([], [1], 1, 1)
        {
            Rehearsals = (1, TimeSpan.FromMilliseconds(200)), Trials = (1, 1 << 20, 64),
        });

        Assert.Empty(found.Pauses);
        Assert.True(Assert.Single(found.Rehearsal!.Beside).Ratio > 0 && Assert.Single(found.Rehearsal.Replica).Ratio > 0);
        Assert.True(found.Trial is { LogBytes: >= 1 << 20, Messages: > 0, Outcome: "alike" } && Assert.Single(found.Trial.Seconds) > 0);
    }

    [Fact]
    public void Pauses_OfTwoSizes_HaveTheirPercentilesAndRatiosAndWhatAMebibyteAdds()
    {
        var small = new UpgradePauses(
            1, [Pause(UpgradeKind.Failover, 50), Pause(UpgradeKind.Failover, 70), Pause(UpgradeKind.Replica, 90, 30)]);
        var large = new UpgradePauses(11, [.. Enumerable.Range(1, 200).Select(static ms => Pause(UpgradeKind.Failover, ms)),
            Pause(UpgradeKind.Replica, 190, 60), Pause(UpgradeKind.Beside, 76, 38)]);

        Assert.Equal((1.5, 1.0), (small.ReplicaByFailover, small.ReplicaPredictedByReal)); // 90 by 60, and 30 + 60 by 90
        Assert.Null(small.BesideByReplica);
        PauseFigures figures = large.Of(UpgradeKind.Failover)!;
        Assert.Equal((200, 100.5, 198.0, 200.0), (figures.Count, figures.P50Ms, figures.P99Ms, figures.MaxMs));
        Assert.Equal((0.4, 0.5), (large.BesideByReplica, large.BesidePredictedByReal));
        var result = new UpgradeResult([small, large], null, null);
        Assert.Equal(10, result.MsPerMebibyte(large, UpgradeKind.Replica)); // 190 − 90 for ten more
        Assert.Null(result.MsPerMebibyte(small, UpgradeKind.Replica));
    }

    public void Dispose() => Directory.Delete(_directory, recursive: true);

    private UpgradeResult Run(UpgradePlan plan) => new UpgradeCommand(new ClusterOptions(_directory, TimeSpan.FromSeconds(60))).Run(plan);

    private static UpgradePause Pause(UpgradeKind kind, double ms, double? rehearsedMs = null) =>
        new(kind, ms, 1, rehearsedMs is { } took ? new Rehearsed(1, took) : null);
}
