// A log is written by a stream, and then executed again by those who look at its past: replayed by one build and by two side by side,
// stopped at its end from its beginning and from a checkpoint, and followed while it is written.
namespace Ambrosia.Perf;

/// <summary>What <c>replay</c> does.</summary>
internal sealed class ReplayCommand(ClusterOptions cluster)
{
    private const string NoCheckpoint = "1024G";

    /// <summary>A message, its frame of a few bytes, and its share of the run's header.</summary>
    private const int OverheadBytes = 2;

    private const int WarmUpPart = 10, BehindCheckpoint = 10_000;

    /// <exception cref="FailedRoundException">A figure means nothing.</exception>
    public ReplayResult Run(int bytes, long logBytes, int rounds, int pairs)
    {
        using var leg = new AmbrosiaLeg(cluster with { CheckpointEvery = NoCheckpoint }, StreamPlan.OneWay);
        Member receiver = leg.Cluster["receiver"];
        var tools = new ViewTools(cluster, receiver);
        long messages = logBytes / (bytes + OverheadBytes);
        leg.Run(bytes, messages / WarmUpPart);
        StreamRound original = leg.Run(bytes, messages);
        long written = receiver.Written().Bytes;
        List<ReplayedLog> alone = [], paired = [];
        List<double> fromBeginning = [];
        for (int i = 0; i < rounds; i++)
        {
            alone.Add(tools.Replay(isPaired: false));
            paired.Add(tools.Replay(isPaired: true));
            fromBeginning.Add(tools.StopAtEnd());
            cluster.Report($"round {i + 1}: replayed in {alone[^1].Seconds:F1} s, by two builds in {paired[^1].Seconds:F1} s; at its end in {fromBeginning[^1]:F1} s");
            cluster.Advance(0.5 / rounds);
        }
        receiver.Checkpoint();
        leg.Run(bytes, BehindCheckpoint);
        List<double> fromCheckpoint = [.. Enumerable.Range(0, rounds).Select(_ => tools.StopAtEnd())];
        var followed = new List<FollowedRound>();
        for (int i = 0; i < pairs; i++)
        {
            followed.Add(Follow(leg, tools, bytes, messages));
            cluster.Report($"pair {i + 1} of {pairs}: {followed[^1].Ratio:F3}");
            cluster.Advance(0.5 / pairs);
        }
        return new ReplayResult(bytes, messages + messages / WarmUpPart, written, original.MessagesPerSecond)
        {
            Alone = alone, Paired = paired, FromBeginning = fromBeginning, FromCheckpoint = fromCheckpoint, Followed = followed,
        };
    }

    /// <summary>A round while a replay follows the receiver, and one while as much of the processors is used by something else.</summary>
    private static FollowedRound Follow(AmbrosiaLeg leg, ViewTools tools, int bytes, long messages)
    {
        leg.Cluster["receiver"].Checkpoint(); // the replay begins there, so it is soon at the end
        StreamRound watched;
        double used;
        using (var follower = new FollowingReplay(tools.Follow()))
        {
            follower.AwaitIdle();
            double before = follower.CpuSeconds();
            watched = leg.Run(bytes, messages);
            used = follower.CpuSeconds() - before;
        }
        using var other = new OtherWork(used / watched.Seconds);
        StreamRound beside = leg.Run(bytes, messages);
        return new FollowedRound(watched.MessagesPerSecond, beside.MessagesPerSecond, used / watched.Seconds);
    }
}

/// <summary>What <c>replay</c> measured.</summary>
/// <param name="Messages">In the log.</param>
/// <param name="LogBytes">That were written of it.</param>
/// <param name="OriginalPerSecond">Messages a second when they came first.</param>
internal sealed record ReplayResult(int Bytes, long Messages, long LogBytes, double OriginalPerSecond)
{
    public required IReadOnlyList<ReplayedLog> Alone { get; init; }

    public required IReadOnlyList<ReplayedLog> Paired { get; init; }

    /// <summary>Seconds from the start of the command to the stop at the log's last message, without a checkpoint.</summary>
    public required IReadOnlyList<double> FromBeginning { get; init; }

    /// <summary>The same, behind a checkpoint that holds nearly all of it.</summary>
    public required IReadOnlyList<double> FromCheckpoint { get; init; }

    public required IReadOnlyList<FollowedRound> Followed { get; init; }

    public double FollowedRatio => Median.Of(Followed, static each => each.Ratio);

    /// <summary>The rate of a replay by that of the original; the start of the processes is in it.</summary>
    public double ReplayRatio => Median.Of(Alone, each => Messages / each.ExecutingSeconds / OriginalPerSecond);

    /// <summary>Two builds by one.</summary>
    public double PairedRatio => Median.Of(Alone.Zip(Paired), static each => each.First.ExecutingSeconds / each.Second.ExecutingSeconds);
}

/// <summary>Two rounds: what a replay that follows costs a stream, beside what any other work of its size costs it.</summary>
/// <param name="FollowedPerSecond">Messages a second beside the replay.</param>
/// <param name="OtherPerSecond">Messages a second beside other work.</param>
/// <param name="CoresUsed">By the replay with its app, and by the other work.</param>
internal sealed record FollowedRound(double FollowedPerSecond, double OtherPerSecond, double CoresUsed)
{
    public double Ratio => FollowedPerSecond / OtherPerSecond;
}
