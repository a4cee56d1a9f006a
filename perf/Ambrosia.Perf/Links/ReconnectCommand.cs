// A link through a relay that cuts it, and a message that is made right behind the cut: from the cut to the handler that takes it. In turn
// with messages that nothing is cut before, which say what of it is the road alone.
using System.Diagnostics;

namespace Ambrosia.Perf;

/// <summary>What <c>reconnect</c> does.</summary>
internal sealed class ReconnectCommand(ClusterOptions options)
{
    private const string App = "stream-end", Sender = "sender", Receiver = "receiver";
    private const int WarmUps = 20, SayEach = 50;

    private int _number;

    /// <exception cref="FailedRoundException">A figure means nothing.</exception>
    public ReconnectResult Run(int cuts)
    {
        var relays = new List<CuttingRelay>();
        try
        {
            Dictionary<string, IReadOnlyList<string>> between = new[] { Sender, Receiver }.ToDictionary(static name => name,
                name => Between(relays));
            using Cluster cluster = Cluster.Start(
                options with { OptionsOf = instance => [.. options.OptionsOf(instance), .. between[instance]] },
                (Receiver, App), (Sender, App));
            for (int i = 0; i < WarmUps; i++) Reach(cluster, relays, isCut: i % 2 == 1);
            var plain = new LatencyHistogram();
            var cut = new LatencyHistogram();
            for (int i = 0; i < cuts; i++)
            {
                plain.Add(Reach(cluster, relays, isCut: false));
                cut.Add(Reach(cluster, relays, isCut: true));
                options.Advance(1.0 / cuts);
                if ((i + 1) % SayEach == 0)
                    options.Report(
                        $"cut {i + 1} of {cuts}: {plain.Max.TotalMilliseconds:F1} ms at most without, {cut.Max.TotalMilliseconds:F1} ms with");
            }
            return new ReconnectResult(Latencies.Of(plain), Latencies.Of(cut));
        }
        finally
        {
            foreach (CuttingRelay relay in relays) relay.Dispose();
        }
    }

    private static IReadOnlyList<string> Between(List<CuttingRelay> relays)
    {
        var port = CuttingRelay.FreePort();
        relays.Add(new CuttingRelay(port));
        return ["--listen", $"{port}", "--advertise", relays[^1].Address];
    }

    private TimeSpan Reach(Cluster cluster, List<CuttingRelay> relays, bool isCut)
    {
        string mine = $"{++_number}";
        long begun = Stopwatch.GetTimestamp();
        if (isCut && relays.Sum(static relay => relay.Cut()) == 0) throw new FailedRoundException("no connection goes through the relays");
        cluster.Tell(Sender, $"reach {mine} {Receiver}");
        Line reached = cluster.Await(line => line.Words is ["poked", string found, _] && found == mine && line.From.Instance == Receiver,
            "poked");
        return Stopwatch.GetElapsedTime(begun, long.Parse(reached.Words[2]));
    }
}
