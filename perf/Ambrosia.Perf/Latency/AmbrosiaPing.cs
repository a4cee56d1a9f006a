using System.Diagnostics;
using System.Globalization;

namespace Ambrosia.Perf;

/// <summary>Our own leg of a ping: a client that awaits, and a server that answers.</summary>
internal sealed class AmbrosiaPing(ClusterOptions options) : IPingLeg, IDisposable
{
    private const string Client = "client", Server = "server";

    private readonly Cluster _cluster = Cluster.Start(options, (Server, "ping-server"), (Client, "ping-client"));
    private int _round;

    public string Name => "ambrosia";

    public string Durability => options.Durability;

    public PingRound Run(int calls) => Round($"ping {++_round} {calls}", calls);

    /// <summary>So many calls under way at a time.</summary>
    public PingRound RunCrowd(int calls, int outstanding) => Round($"crowd {++_round} {calls} {outstanding}", calls);

    /// <summary>
    /// Calls at fixed moments, made from outside: an impulse, durable in the client's log, makes each. Each latency begins at that moment.
    /// </summary>
    public PingRound RunOpen(int calls, double perSecond) =>
        Round($"open {++_round} {calls} {perSecond.ToString("R", CultureInfo.InvariantCulture)}", calls);

    /// <summary>
    /// A crowd in whose middle processes are killed by kill -9 and started again: each call must be answered, and rightly. A kill that came
    /// after the end proves nothing: then it is done again with twice the calls.
    /// </summary>
    public KilledRound RunKilled(int calls, int outstanding, KillTarget target)
    {
        const int triesMax = 6;
        for (int i = 0; i < triesMax; i++, calls *= 2)
        {
            _cluster.Tell(Client, $"crowd {++_round} {calls} {outstanding}");
            _cluster.Await(line => line.Words is ["half", string of] && of == $"{_round}", "half");
            long killed = Stopwatch.GetTimestamp();
            Member[] victims = [
                .. _cluster.Members.Where(
                    member => target == KillTarget.Everybody || (member.Instance == Server) == (target == KillTarget.Receivers))];
            foreach (Member victim in victims) victim.Kill();
            foreach (Member victim in victims) victim.Start();
            string[] words = _cluster.Await(line => line.Words is ["answered", string of, ..] && of == $"{_round}", "answered").Words;
            if (words[2] != $"{calls}" || words[3] != "0")
                throw new FailedRoundException($"{words[2]} of {calls} calls were answered, {words[3]} wrongly");
            double seconds = (long.Parse(words[4]) - killed) / (double)Stopwatch.Frequency;
            if (seconds > 0) return new KilledRound(target, calls, sizeof(long), seconds);
        }
        throw new FailedRoundException($"{triesMax} crowds ended before their middle was reported: give more --n");
    }

    public void Dispose() => _cluster.Dispose();

    private PingRound Round(string command, int calls)
    {
        Usage before = _cluster.Measure(static member => member.Instance == Server);
        _cluster.Tell(Client, command);
        string[] words = _cluster.Await("latencies").Words;
        if (words.Length != 10 || words[1] != $"{_round}") throw new FailedRoundException($"'{string.Join(' ', words)}' in round {_round}");
        if (words[2] != "0") throw new FailedRoundException($"{words[2]} answers were not those to their questions");
        Latencies found = Latencies.Parse(words.AsSpan(4));
        if (found.Count != calls) throw new FailedRoundException($"{found.Count} of {calls} calls were measured");
        double seconds = long.Parse(words[3]) / (double)Stopwatch.Frequency;
        return new PingRound(found, seconds, _cluster.Measure(static member => member.Instance == Server) - before);
    }
}
