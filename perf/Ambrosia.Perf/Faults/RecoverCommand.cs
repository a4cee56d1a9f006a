// Kill -9 and start again in place: first with a log of a few records, which is start-up and nothing else, then with a round's messages
// that no checkpoint holds. Each replay says the round's totals again, and they must be the same.
using System.Diagnostics;

namespace Ambrosia.Perf;

/// <summary>What <c>recover</c> does.</summary>
internal sealed class RecoverCommand(ClusterOptions cluster)
{
    private const string NoCheckpoint = "1024G";

    /// <exception cref="FailedRoundException">A figure means nothing.</exception>
    public RecoverResult Run(RecoverOptions options)
    {
        using var leg = new AmbrosiaLeg(cluster with { CheckpointEvery = NoCheckpoint }, StreamPlan.OneWay);
        Member receiver = leg.Cluster["receiver"];
        var idle = new List<Recovered>();
        for (int i = 0; i < options.Kills; i++)
        {
            idle.Add(Restart(leg.Cluster, receiver, null));
            cluster.Advance(0.5 / options.Kills);
        }
        long resident = ProcessMemory.ResidentBytes(receiver.CoordinatorId);
        cluster.Report($"idle: input again {Median.Of(idle, static each => each.ProgressMs):F0} ms after the kill");

        // Every message is replayed, those of the rounds before too: so the first round counts, and it comes last.
        leg.Run(options.Bytes, Math.Min(options.Messages, 10_000));
        StreamRound original = leg.Run(options.Bytes, options.Messages);
        var filled = new List<Recovered>();
        for (int i = 0; i < options.Kills; i++)
        {
            filled.Add(Restart(leg.Cluster, receiver, original));
            cluster.Advance(0.5 / options.Kills);
            cluster.Report($"{original.Messages} messages, kill {i + 1} of {options.Kills}: input again after {filled[^1].ProgressMs:F0} ms");
        }
        leg.Run(options.Bytes, options.Messages); // and all is as it was
        return new RecoverResult(options.Bytes, original.Messages, original.MessagesPerSecond, resident, idle, filled);
    }

    /// <param name="replayed">The round whose totals must be said again; null: none.</param>
    private static Recovered Restart(Cluster cluster, Member member, StreamRound? replayed)
    {
        long killed = Stopwatch.GetTimestamp();
        member.Kill();
        long started = Stopwatch.GetTimestamp();
        member.Start();
        // The app says it while the coordinator goes on to become ready, so either may come first.
        long open = 0, primary = 0, ready = 0;
        bool isReplayed = replayed is null;
        while (primary == 0 || ready == 0 || !isReplayed)
        {
            Line line = cluster.Await(
                line => line.From == member && line.IsOfLastStart && line.Words[0] is "epoch" or "primary" or "ready" or "done", "primary");
            switch (line.Words)
            {
                case ["epoch", _, "log", "open", ..]: open = Stopwatch.GetTimestamp(); break;
                case ["primary", string ticks]: primary = long.Parse(ticks); break;
                case ["ready", ..]: ready = Stopwatch.GetTimestamp(); break;
                case ["done", _, _, string count, string bytes, string disorder, _] when replayed is not null
                    && count == $"{replayed.Messages}":
                    RoundTotals.Check(count, bytes, disorder, replayed.Messages, replayed.Bytes);
                    isReplayed = true;
                    break;
            }
        }
        return new Recovered(Ms(started, open), Ms(killed, primary), Ms(killed, ready), Ms(killed, cluster.Poke(member)));
    }

    private static double Ms(long from, long to) => Stopwatch.GetElapsedTime(from, to).TotalMilliseconds;
}
