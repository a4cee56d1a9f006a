using System.Diagnostics;

namespace Ambrosia.Perf;

/// <summary>
/// What <c>scale</c> does: the same number of messages from more and more peers, to more and more, and from more and more pairs at once.
/// </summary>
internal sealed class ScaleCommand(ClusterOptions cluster)
{
    public const string Peers = "peers", Destinations = "destinations", Immortals = "immortals";

    /// <summary>Before the first round that counts: each of many senders has then seen the road of a call, too.</summary>
    private const int WarmUpRounds = 2;

    /// <summary>
    /// Rounds in which a larger part of the processor time compiles what is hot are no rounds: at 130 processes that lasts for a minute.
    /// </summary>
    private const double CompilationShareMax = 0.02;

    public TimeSpan WarmUpMin { get; init; } = TimeSpan.FromSeconds(5);

    public TimeSpan WarmUpMax { get; init; } = TimeSpan.FromSeconds(90);

    /// <param name="peers">Numbers of senders with one receiver.</param>
    /// <param name="destinations">Numbers of receivers with one sender.</param>
    /// <param name="immortals">Numbers of instances; a pair has two.</param>
    /// <param name="turn">Messages to one destination before the next has its turn.</param>
    /// <param name="killed">Rounds behind those that count in whose middle every process is killed.</param>
    /// <exception cref="FailedRoundException">A figure means nothing.</exception>
    public ScaleResult Run(
        IReadOnlyList<int> peers, IReadOnlyList<int> destinations, IReadOnlyList<int> immortals, int bytes, long messages, int rounds,
        int turn, int killed)
    {
        var points = new List<ScalePoint>();
        foreach (int count in peers) Add(RunOne(Peers, count, StreamPlan.Jobs(count), bytes, messages, rounds, killed));
        foreach (int count in destinations)
            Add(RunOne(Destinations, count, StreamPlan.Destinations(count) with { Turn = turn }, bytes, messages, rounds, killed));
        foreach (int count in immortals)
            Add(RunOne(Immortals, count, StreamPlan.Pairs(Math.Max(1, count / 2)), bytes, messages, rounds, killed));
        return new ScaleResult(bytes, points);

        void Add(ScalePoint point)
        {
            points.Add(point);
            cluster.Advance(1.0 / (peers.Count + destinations.Count + immortals.Count));
        }
    }

    private void WarmUp(AmbrosiaLeg leg, int bytes, long messages)
    {
        leg.Run(bytes, messages); // starts them, too
        long begun = Stopwatch.GetTimestamp();
        double compiled = leg.Cluster.CompilationSeconds(), share = 1;
        for (int i = 1; i < WarmUpRounds || Goes(share, Stopwatch.GetElapsedTime(begun)); i++)
        {
            StreamRound round = leg.Run(bytes, messages);
            double now = leg.Cluster.CompilationSeconds();
            share = (now - compiled) / round.Used.CpuSeconds;
            compiled = now;
        }
    }

    private bool Goes(double share, TimeSpan lasts) => lasts < WarmUpMin || (share > CompilationShareMax && lasts < WarmUpMax);

    private ScalePoint RunOne(string kind, int count, StreamPlan plan, int bytes, long messages, int rounds, int killed)
    {
        string directory = Path.Combine(cluster.Directory, $"{kind}-{count}");
        try
        {
            using var leg = new AmbrosiaLeg(cluster with { Directory = directory }, plan);
            WarmUp(leg, bytes, messages);
            Member hub = kind == Destinations ? leg.Cluster.Members[^1] : leg.Cluster.Members[0];
            double through = kind == Immortals ? plan.Lanes.Count : 1;
            List<StreamRound> found = [.. Enumerable.Range(0, rounds).Select(_ => leg.Run(bytes, messages, hub))];
            var point = new ScalePoint(
                kind, count, [.. found.Select(static round => round.MessagesPerSecond)],
                Median.Of(found, static round => round.CpuSecondsPerMillion),
                [.. found.Select(round => HubCost.Of(round.Hub, round.Messages / through / 1e6))],
                ProcessMemory.ResidentBytes(hub.CoordinatorId))
            {
                Turn = kind == Destinations && count > 1 ? plan.Turn : 0,
                Killed = [.. Enumerable.Range(0, killed).Select(_ => leg.RunKilled(bytes, messages, KillTarget.Everybody))],
            };
            cluster.Report($"{count} {kind}: {point.MessagesPerSecond:N0} messages/s");
            return point;
        }
        finally
        {
            if (Directory.Exists(directory)) Directory.Delete(directory, recursive: true);
        }
    }
}
