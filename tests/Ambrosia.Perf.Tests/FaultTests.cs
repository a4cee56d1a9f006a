namespace Ambrosia.Perf.Tests;

/// <summary>The commands that kill, grow and price, with real processes and little work.</summary>
public sealed class FaultTests : IDisposable
{
    private readonly string _directory = Directory.CreateTempSubdirectory("perf-test-").FullName;

    private ClusterOptions Options => new(_directory, TimeSpan.FromSeconds(60));

    [Fact]
    public void Recover_ReplaysTheRoundWithItsTotals()
    {
        RecoverResult found = new RecoverCommand(Options).Run(new RecoverOptions(16, 200_000, Kills: 2));

        Assert.Equal((2, 2), (found.Idle.Count, found.Filled.Count));
        Assert.All(found.Idle.Concat(found.Filled), static each => Assert.True(each.PrimaryMs > 0 && each.ProgressMs > each.PrimaryMs));
        Assert.True(found.ReplayPerSecond > 0 && found.ResidentBytesIdle > 1 << 20);
    }

    [Fact]
    public void Failover_EndsEachRoundOnTheOtherReplica()
    {
        FailoverResult found = new FailoverCommand(Options).Run(16, 500_000, kills: 2);

        Assert.Equal(2, found.Kills.Count);
        Assert.All(found.Kills, static each => Assert.True(each.PrimaryMs > 0));
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Reconnect_CutsTheLinkEachTime_AndMeasuresBoth(bool withCertificates)
    {
        ReconnectResult found = new ReconnectCommand(withCertificates ? LinkCertificates.Give(Options) : Options).Run(cuts: 5);

        Assert.Equal((5, 5), (found.Uncut.Count, found.Cut.Count));
        Assert.True(found.Uncut.P50 > 0 && found.Cut.P50 > 0);
    }

    [Fact]
    public void Checkpoint_HoldsTheStateAndComesBack()
    {
        IReadOnlyList<CheckpointResult> found = new CheckpointCommand(Options).Run([2L << 20], 64, 50_000, rounds: 1);

        Assert.True(found[0].FileBytes >= 2 << 20);
        Assert.True(found[0] is { With: > 0, Without: > 0, RestoreMs: > 0 } && found[0].Seconds.Count == 1);
    }

    [Fact]
    public void Scale_OfTwoPeersTwoDestinationsAndTwoPairs_ComparesWithTheFirst()
    {
        ScaleResult found = new ScaleCommand(Options) { WarmUpMin = TimeSpan.Zero, WarmUpMax = TimeSpan.Zero }
            .Run([1, 2], [2], [4], 16, 20_000, rounds: 1, turn: 16, killed: 1);

        Assert.All(found.Points, static point => Assert.Single(point.Killed));
        Assert.Equal([("peers", 1), ("peers", 2), ("destinations", 2), ("immortals", 4)],
            found.Points.Select(static point => (point.Kind, point.Count)));
        Assert.Equal(1, found.CostRatio(found.Points[0]));
        Assert.True(found.CostRatio(found.Points[1]) > 0 && found.HubCostRatio(found.Points[1]) > 0);
        Assert.All(found.Points,
            static point =>
                Assert.True(
                    point.HubCoordinatorCpuSecondsPerMillion > 0 && point.HubCoordinatorCpuSecondsPerMillion < point.HubCpuSecondsPerMillion
                    && point.HubWaitsPerMillion > 0));
    }

    /// <summary>Web applications with and without us, and two hosts that send; the figures of the pairs are compared.</summary>
    [Fact]
    public void Hosts_StartAndAreCollected_ByPairs()
    {
        StartResult started = new StartCommand(Options).Run(pairs: 1);
        Assert.All(started.With.Concat(started.Without), static each => Assert.True(each.ReadyMs > 0 && each.AnsweredMs > each.ReadyMs));

        SizeResult collected = new MetricsCommand(Options).Run(16, 200_000, pairs: 1, TimeSpan.FromMilliseconds(1), TimeSpan.Zero);
        Assert.Equal(["collected", "without"], collected.Legs.Select(static leg => leg.Leg));
        Assert.All(collected.Legs, static leg => Assert.Single(leg.Rounds));
    }

    [Fact]
    public void Cost_IsThePaperFormula()
    {
        // 100 bytes: a million messages are 100 MB of payload and 120 MB of log, and take 2 CPU seconds.
        var leg = new LegResult("leg", "", [new StreamRound(1_000_000, 100, 1, new Usage(2, 1, 120_000_000, 0, 0))]);

        Cost cost = Cost.Of(leg, 100);

        Assert.Equal(120, cost.LogMegabytesPerMillion, 6);
        Assert.Equal((0.02 * 1541.03 / 16) + (1.2 * 0.1971), cost.DollarsPerMonth, 6);
    }

    public void Dispose() => Directory.Delete(_directory, recursive: true);
}
