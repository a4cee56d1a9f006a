using System.Diagnostics;

namespace Ambrosia.Perf;

/// <summary>
/// What <c>checkpoint</c> does: for each size of state, how long one takes, what it costs a stream, and how long a restart from it takes.
/// </summary>
/// <param name="hasStandby">A second replica of the receiver follows from the moment that the receiver alone was measured; it takes
/// the checkpoints.</param>
internal sealed class CheckpointCommand(ClusterOptions cluster, bool hasStandby = false)
{
    private const string OnlyWhenAsked = "1024G";

    /// <param name="stateBytes">Sizes of the receiver's state.</param>
    /// <param name="bytes">Of a message of the stream.</param>
    /// <exception cref="FailedRoundException">A figure means nothing.</exception>
    public IReadOnlyList<CheckpointResult> Run(IReadOnlyList<long> stateBytes, int bytes, long messages, int rounds)
    {
        var found = new List<CheckpointResult>();
        foreach (long state in stateBytes)
        {
            found.Add(RunOne(state, bytes, messages, rounds));
            cluster.Advance(1.0 / stateBytes.Count);
            cluster.Report(
                $"{state >> 20} MiB of state: {found[^1].MegabytesPerSecond:F0} MB/s, {found[^1].Without:N0} messages/s alone, {found[^1].With:N0} beside a checkpoint");
        }
        return found;
    }

    private CheckpointResult RunOne(long state, int bytes, long messages, int rounds)
    {
        string directory = Path.Combine(cluster.Directory, $"state-{state}");
        try
        {
            using var leg = new AmbrosiaLeg(cluster with { Directory = directory, CheckpointEvery = OnlyWhenAsked }, StreamPlan.OneWay);
            Member receiver = leg.Cluster["receiver"];
            leg.Hold(state);
            leg.Run(bytes, messages);
            double without = Rate(leg, bytes, messages, rounds);
            double? following = null;
            if (hasStandby)
            {
                leg.AddStandbys();
                leg.Run(bytes, messages);
                following = Rate(leg, bytes, messages, rounds);
            }
            string file = "";
            List<double> seconds = [.. Enumerable.Range(0, rounds).Select(_ => Timed(() => file = receiver.Checkpoint()))];
            Task<double> beside = Task.Run(() => Timed(() => receiver.Checkpoint()), CancellationToken.None);
            var during = new List<StreamRound>();
            do during.Add(leg.Run(bytes, messages));
            while (!beside.IsCompleted);
            double with = Median.Of(during, static round => round.MessagesPerSecond);
            double underLoad = beside.GetAwaiter().GetResult();
            long length = new FileInfo(file).Length;
            if (length < state) throw new FailedRoundException($"a checkpoint of {length} bytes cannot hold a state of {state}");
            if (hasStandby && !file.EndsWith(".r1", StringComparison.Ordinal))
                throw new FailedRoundException($"{file} was not made by the replica that follows");
            return new CheckpointResult(state, length, seconds, underLoad, without, following, with,
                hasStandby ? null : RestoreMs(leg.Cluster, receiver));
        }
        finally
        {
            if (Directory.Exists(directory)) Directory.Delete(directory, recursive: true);
        }
    }

    private static double Rate(AmbrosiaLeg leg, int bytes, long messages, int rounds) =>
        Median.Of(Enumerable.Range(0, rounds).Select(_ => leg.Run(bytes, messages)).ToList(), static round => round.MessagesPerSecond);

    private static double RestoreMs(Cluster cluster, Member member)
    {
        member.Checkpoint();
        long killed = Stopwatch.GetTimestamp();
        member.Kill();
        member.Start();
        return Stopwatch.GetElapsedTime(killed, cluster.Poke(member)).TotalMilliseconds;
    }

    private static double Timed(Action action)
    {
        long begun = Stopwatch.GetTimestamp();
        action();
        return Stopwatch.GetElapsedTime(begun).TotalSeconds;
    }
}
