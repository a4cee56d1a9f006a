namespace Ambrosia.Perf.Tests;

/// <summary>The rivals that can be built here; the others say what they need.</summary>
[Collection("rivals")]
public sealed class RivalTests : IDisposable
{
    private readonly string _directory = Directory.CreateTempSubdirectory("perf-test-").FullName;

    private ClusterOptions Options => new(_directory, TimeSpan.FromSeconds(120));

    [RivalTheory]
    [InlineData(RivalNames.Tcp)]
    [InlineData(RivalNames.Reference)]
    public void Stream_OfARival_IsVerified(string name) => VerifyStream(name);

    [RivalTheory(needsGrpc: true)]
    [InlineData(RivalNames.Grpc)]
    public void Stream_OfGrpc_IsVerified(string name) => VerifyStream(name);

    private void VerifyStream(string name)
    {
        foreach (IStreamLeg leg in Rival.StreamLegs([name], Options, StreamPlan.OneWay))
        {
            foreach (int size in new[] { 16, 1000, 65536 })
            {
                StreamRound round = leg.Run(size, 1000);
                Assert.True(round is { Messages: 1000, Seconds: > 0, Used.CpuSeconds: > 0 }, $"{leg.Name} {size}: {round}");
                if (name == RivalNames.Reference)
                    Assert.True(round.Used.Commits > 0 && round.Used.LogBytes >= 1000L * size, $"{leg.Name} {size}: {round}");
            }
        }
    }

    [RivalTheory]
    [InlineData(RivalNames.Tcp)]
    [InlineData(RivalNames.Reference)]
    public void Ping_OfARival_IsVerified(string name) => VerifyPing(name);

    [RivalTheory(needsGrpc: true)]
    [InlineData(RivalNames.Grpc)]
    public void Ping_OfGrpc_IsVerified(string name) => VerifyPing(name);

    private void VerifyPing(string name)
    {
        foreach (IPingLeg leg in Rival.PingLegs([name], Options).Concat(Rival.CrowdLegs([name], Options, outstanding: 10)))
        {
            PingRound round = leg.Run(200);
            Assert.True(round.Latencies is { Count: 200, P50: > 0 } && round.Latencies.Max >= round.Latencies.P99, $"{leg.Name}: {round}");
        }
    }

    [RivalTheory]
    [InlineData(RivalNames.Reference)]
    public void Stream_BesideARival_GivesARatioOfEachPair(string name)
    {
        IReadOnlyList<SizeResult> found = new StreamCommand(Options, StreamPlan.OneWay,
            Rival.StreamLegs([name], Options, StreamPlan.OneWay))
            .Run(new StreamOptions([64], 1 << 20, 20_000, Rounds: 2, Killed: 0) { WarmUpRounds = 1 });

        Assert.Equal(["ambrosia", "c-direct", "c-buffered"], found[0].Legs.Select(static leg => leg.Leg));
        Assert.All(found[0].Ratios, static ratio => Assert.Equal(2, ratio.Pairs + ratio.Dropped));
    }

    [Fact]
    public void Stream_BesideOurselvesUnflushed_GivesARatioOfEachPair_AndLeavesNoLogs()
    {
        IReadOnlyList<IStreamLeg> rivals = Rival.StreamLegs([RivalNames.Off, RivalNames.Buffered], Options, StreamPlan.OneWay);
        IReadOnlyList<SizeResult> found = new StreamCommand(Options, StreamPlan.OneWay, rivals)
            .Run(new StreamOptions([64], 1 << 20, 20_000, Rounds: 2, Killed: 0) { WarmUpRounds = 1 });

        Assert.Equal(["ambrosia", "ambrosia-off", "ambrosia-buffered"], found[0].Legs.Select(static leg => leg.Leg));
        Assert.StartsWith("durable", found[0].Legs[0].Durability);
        Assert.All(found[0].Legs.Skip(1), static leg => Assert.StartsWith("NOT durable", leg.Durability));
        Assert.All(found[0].Ratios, static ratio => Assert.Equal(2, ratio.Pairs + ratio.Dropped));
        Assert.False(Directory.Exists(ClusterOptions.MemoryDirectory($"ambrosia-perf-{Environment.ProcessId}-off")));
    }

    /// <summary>The negative control: what a rival says is compared with what it was to do.</summary>
    [RivalTheory]
    [InlineData(RivalNames.Tcp)]
    public void Round_OfAnotherLengthThanAsked_Fails(string name)
    {
        string program = RivalBuild.Find($"{name}_rival");

        Assert.Throws<FailedRoundException>(() => RivalProcess.Stream(Options, program, ["stream", "16", "999"], 16, 1000));
        Assert.Throws<FailedRoundException>(() => RivalProcess.Stream(Options, program, ["stream", "24", "1000"], 16, 1000));
        Assert.Throws<FailedRoundException>(() => RivalProcess.Stream(Options, program, ["stream", "no", "1000"], 16, 1000));
        Assert.Throws<FailedRoundException>(() => RivalProcess.Ping(Options, program, ["ping", "10"], 11));
    }

    [RivalTheory]
    [InlineData("c_nothing")]
    [InlineData("grpc_nothing")]
    public void Build_OfWhatCannotBeBuilt_SaysWhatToInstall(string target)
    {
        MissingRivalException missing = Assert.Throws<MissingRivalException>(() => RivalBuild.Find(target));

        Assert.Contains(target.StartsWith("grpc", StringComparison.Ordinal) ? "libgrpc++-dev" : "cmake", missing.Message);
    }

    public void Dispose() => Directory.Delete(_directory, recursive: true);
}
