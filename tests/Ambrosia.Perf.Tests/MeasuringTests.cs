namespace Ambrosia.Perf.Tests;

/// <summary>The commands with real processes and few calls: what they verify, not how fast it is.</summary>
public sealed class MeasuringTests : IDisposable
{
    private readonly string _directory = Directory.CreateTempSubdirectory("perf-test-").FullName;

    private ClusterOptions Options => new(_directory, TimeSpan.FromSeconds(60));

    [Fact]
    public void Stream_OfTwoSizes_VerifiesAndCountsEveryRound()
    {
        IReadOnlyList<SizeResult> found = new StreamCommand(Options, StreamPlan.OneWay, [])
            .Run(new StreamOptions([1024, 16], 1 << 20, 20_000, Rounds: 2, Killed: 0));

        Assert.Equal([(1024, 1024L), (16, 20_000L)], found.Select(static size => (size.Bytes, size.Ours.Rounds[0].Messages)));
        Assert.All(found.SelectMany(static size => size.Ours.Rounds), static round =>
        {
            Assert.True(round.Seconds > 0 && round.SpinnerMs > 0);
            Assert.True(round.Used.CpuSeconds > 0, "four processes used no processor time");
            Assert.True(round.Used.Commits > 0, "a durable round without a flush");
            Assert.True(round.Used.LogBytes > round.Messages * round.Bytes,
                $"{round.Used.LogBytes} bytes of log for {round.Messages} × {round.Bytes}");
        });
    }

    [Fact]
    public void Stream_KilledInTheMiddle_EndsWithTheSameTotals()
    {
        IReadOnlyList<SizeResult> found = new StreamCommand(Options, StreamPlan.OneWay, [])
            .Run(new StreamOptions([256], 32 << 20, 1 << 20, Rounds: 1, Killed: 3) { WarmUpRounds = 1 });

        Assert.Equal([KillTarget.Receivers, KillTarget.Senders, KillTarget.Everybody], found[0].Killed.Select(static each => each.Target));
        Assert.All(found[0].Killed, static each => Assert.True(each.SecondsAfterKill > 0));
    }

    [Fact]
    public void Stream_BothWays_VerifiesBothLanes() => Assert.Equal(20_000, OneRound(Options, StreamPlan.Bidirectional).Messages);

    [Fact]
    public void Stream_OfThreeSendersOverTcp_VerifiesEachLane() =>
        Assert.Equal(19_998, OneRound(Options with { Local = LocalHop.Tcp }, StreamPlan.Jobs(3)).Messages);

    /// <summary>Embedded, coordinator and app are one process, which is killed as one.</summary>
    [Theory]
    [InlineData(nameof(LocalHop.Embedded))]
    [InlineData(nameof(LocalHop.Rings))]
    public void Stream_OverAnotherHop_VerifiesAndSurvivesKills(string hop)
    {
        LocalHop local = Enum.Parse<LocalHop>(hop);
        using var leg = new AmbrosiaLeg(Options with { Local = local }, StreamPlan.OneWay);
        StreamRound round = leg.Run(16, 20_000);
        KilledRound killed = leg.RunKilled(256, 1 << 17, KillTarget.Everybody);

        Assert.Equal(20_000, round.Messages);
        Assert.True(round.Used.Commits > 0 && round.Used.CpuSeconds > 0 && killed.SecondsAfterKill > 0);
        Assert.All(leg.Cluster.Members, member => Assert.Equal(local == LocalHop.Embedded, member.CoordinatorId == member.AppId));
    }

    [Fact]
    public void Ping_KilledInTheMiddle_HasEachCallAnswered()
    {
        using var ping = new AmbrosiaPing(Options);
        foreach (KillTarget target in new[] { KillTarget.Receivers, KillTarget.Senders, KillTarget.Everybody })
            Assert.True(ping.RunKilled(20_000, 100, target).SecondsAfterKill > 0);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Stream_WithoutDurability_SaysSo(bool inMemory)
    {
        LogKind kind = inMemory ? LogKind.Off : LogKind.Buffered;
        string logs = kind == LogKind.Off ? ClusterOptions.MemoryDirectory(Path.GetFileName(_directory)) : _directory;
        try
        {
            ClusterOptions options = Options with { Directory = logs, Log = kind };
            using var leg = new AmbrosiaLeg(options, StreamPlan.OneWay);
            Assert.StartsWith("NOT durable", leg.Durability);
            leg.Run(16, 1000);
            leg.Cluster["receiver"].Kill();
            leg.Cluster["receiver"].Start();
            leg.Cluster.Await("UNSAFE:");
        }
        finally
        {
            if (logs != _directory) Directory.Delete(logs, recursive: true);
        }
    }

    [Fact]
    public void Stream_WithStateAndImpulses_HandlesEveryImpulse()
    {
        var options = new StreamOptions([256], 16 << 20, 1 << 20, Rounds: 1, Killed: 0)
        {
            WarmUpRounds = 1, StateBytes = 3 << 20, ImpulseEvery = TimeSpan.FromMilliseconds(1)
        };
        IReadOnlyList<SizeResult> found = new StreamCommand(Options, StreamPlan.OneWay, []).Run(options);

        Latencies impulses = Assert.IsType<Latencies>(found[0].Ours.Rounds[0].Impulses);
        Assert.True(impulses.Count > 0 && impulses.P50 > 0);
    }

    [Fact]
    public void Ping_ThreeWays_MeasuresEveryCall()
    {
        PingResult found = new PingCommand(Options, [], [])
            .Run(new PingOptions(Calls: 50, Rounds: 2) { Outstanding = 20, WarmUpCalls = 50 });

        Assert.All(found.Closed[0].Rounds, static each => Assert.Equal(50, each.Latencies.Count));
        Assert.All(found.Crowd[0].Rounds, static each => Assert.Equal(500, each.Latencies.Count));
        Assert.All(found.Open.Rounds, static each => Assert.Equal(500, each.Latencies.Count));
        Assert.All(found.Closed[0].Rounds, static each => Assert.InRange(each.Latencies.P50, double.Epsilon, each.Latencies.Max));
        Assert.All(found.Closed[0].Rounds, static each => Assert.True(each.Used.Commits >= 50, "an answer without a flush at the server"));
        Assert.True(found.OpenPerSecond > 0);
    }

    /// <summary>The negative control: an app that is not there must not give figures.</summary>
    [Fact]
    public void Cluster_WithoutAnApp_Fails() =>
        Assert.Throws<FailedRoundException>(() => Cluster.Start(Options, ("receiver", "nobody")).Dispose());

    /// <summary>The negative control: an app that ends in a measurement ends the measurement.</summary>
    [Fact]
    public void Round_WhoseAppDies_Fails()
    {
        using var leg = new AmbrosiaLeg(Options, StreamPlan.OneWay);
        leg.Run(16, 1000);
        Signals.Kill(leg.Cluster["receiver"].AppId);

        Assert.Throws<FailedRoundException>(() => leg.Cluster.Await("nothing says this"));
    }

    /// <summary>The negative control: each loss, doubling and swap that a receiver can report is no round.</summary>
    [Theory]
    [InlineData("99", "1600", "0")]
    [InlineData("101", "1600", "0")]
    [InlineData("100", "1599", "0")]
    [InlineData("100", "1600", "1")]
    [InlineData("", "1600", "0")]
    public void Totals_ThatAreNotThoseSent_Fail(string count, string bytes, string disorder) =>
        Assert.Throws<FailedRoundException>(() => RoundTotals.Check(count, bytes, disorder, 100, 16));

    public void Dispose() => Directory.Delete(_directory, recursive: true);

    private static StreamRound OneRound(ClusterOptions options, StreamPlan plan)
    {
        using var leg = new AmbrosiaLeg(options, plan);
        return leg.Run(16, 20_000);
    }
}
