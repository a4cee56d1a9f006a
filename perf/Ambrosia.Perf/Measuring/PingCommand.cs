// One awaited call after another, from the call to the handler's next line: into the server's log and back into the client's.
namespace Ambrosia.Perf;

/// <summary>What <c>ping</c> does.</summary>
internal sealed class PingCommand(string logDirectory, TimeSpan limit, Action<string> say, CancellationToken stop = default)
{
    private const string Client = "client", Server = "server";
    private const int WarmUpCalls = 2_000;

    /// <exception cref="FailedRoundException">A round's figures mean nothing.</exception>
    public IReadOnlyList<Latencies> Run(int calls, int rounds)
    {
        using Pair pair = Pair.Start(logDirectory, limit, stop, (Server, "ping-server"), (Client, "ping-client"));
        RunRound(pair, 0, WarmUpCalls);
        var results = new List<Latencies>();
        for (int i = 1; i <= rounds; i++)
        {
            results.Add(RunRound(pair, i, calls));
            say($"round {i} of {rounds}: p50 {results[^1].P50:F1} µs, p99 {results[^1].P99:F1} µs");
        }
        return results;
    }

    private Latencies RunRound(Pair pair, int round, int calls)
    {
        pair.Tell(Client, $"ping {round} {calls}");
        (_, string[] words) = pair.Await("latencies", limit);
        if (words.Length != 9 || words[1] != $"{round}") throw new FailedRoundException($"'{string.Join(' ', words)}' in round {round}");
        if (words[2] != "0") throw new FailedRoundException($"{words[2]} answers were not those to their questions");
        Latencies found = Latencies.Parse(words.AsSpan(3));
        return found.Count == calls ? found : throw new FailedRoundException($"{found.Count} of {calls} calls were measured");
    }
}
