namespace Ambrosia.Perf.Tests;

/// <summary>The commands with real processes and few calls: what they verify, not how fast it is.</summary>
public sealed class MeasuringTests : IDisposable
{
    private static readonly TimeSpan limit = TimeSpan.FromSeconds(60);

    private readonly string directory = Directory.CreateTempSubdirectory("perf-test-").FullName;

    [Fact]
    public void Stream_OfTwoSizes_VerifiesEveryRound()
    {
        IReadOnlyList<StreamResult> results = new StreamCommand(directory, limit, static _ => { }).Run([1024, 16], bytes: 1 << 20, messagesMax: 20_000, rounds: 2);

        Assert.Equal([(1024, 1024), (16, 20_000)], results.Select(static each => (each.Bytes, (int)each.Messages)));
        Assert.All(results, static each => Assert.Equal(2, each.Seconds.Count));
    }

    [Fact]
    public void Ping_MeasuresEveryCall()
    {
        IReadOnlyList<Latencies> rounds = new PingCommand(directory, limit, static _ => { }).Run(calls: 50, rounds: 2);

        Assert.All(rounds, static each => Assert.Equal(50, each.Count));
        Assert.All(rounds, static each => Assert.InRange(each.P50, double.Epsilon, each.Max));
    }

    /// <summary>The negative control: an app that is not there must not give figures.</summary>
    [Fact]
    public void Pair_WithoutAnApp_Fails() =>
        Assert.Throws<FailedRoundException>(() => Pair.Start(directory, limit, CancellationToken.None, ("receiver", "nobody")).Dispose());

    public void Dispose() => Directory.Delete(directory, recursive: true);
}
