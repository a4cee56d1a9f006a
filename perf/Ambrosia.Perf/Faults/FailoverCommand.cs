// Two replicas of a receiver on one log. In the middle of a round the primary is killed by kill -9; the other one takes over, and the round
// must end there with the same totals. Then the killed one is started again as the second, and follows before it is its turn.
using System.Diagnostics;

namespace Ambrosia.Perf;

/// <summary>What <c>failover</c> does.</summary>
internal sealed class FailoverCommand(ClusterOptions options)
{
    private const string App = "stream-end", Sender = "sender", Receiver = "receiver";
    private int _round;

    /// <exception cref="FailedRoundException">A figure means nothing.</exception>
    public FailoverResult Run(int bytes, long messages, int kills)
    {
        using Cluster cluster = Cluster.Start(options, (Receiver, App), (Sender, App));
        Member primary = cluster[Receiver], second = cluster.Add(Receiver, "r1", App);
        second.Start();
        cluster.AwaitFollowing(primary, second);
        var found = new List<FailedOver>();
        while (found.Count < kills)
        {
            FailedOver? one = RunOne(cluster, primary, second, bytes, messages);
            if (one is null) messages *= 2; // the round was over before its middle was heard of
            else found.Add(one);
            options.Advance(one is null ? 0 : 1.0 / kills);
            (primary, second) = (second, primary);
            second.Start();
            cluster.AwaitFollowing(primary, second);
            options.Report(
                $"kill {found.Count} of {kills}: {(one is null ? "too late, again with more messages" : $"primary again after {one.PrimaryMs:F0} ms")}");
        }
        return new FailoverResult(bytes, messages, found);
    }

    private FailedOver? RunOne(Cluster cluster, Member primary, Member second, int bytes, long messages)
    {
        var heard = new FailoverRound(++_round, messages, bytes, primary, second);
        cluster.Tell(Sender, $"stream {_round} {messages} {bytes} 1 0:{Receiver}");
        while (!heard.IsHalf) heard.Take(cluster.Await(FailoverRound.Concerns, "half"));
        long killed = Stopwatch.GetTimestamp();
        primary.Kill();
        while (!heard.IsOver) heard.Take(cluster.Await(FailoverRound.Concerns, "done"));
        return heard.Since(killed);
    }
}
