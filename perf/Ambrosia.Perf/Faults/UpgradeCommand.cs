// A caller asks at fixed moments while a new version of the server comes into force: under its running primary, or by a replica that takes
// over. What counts is the longest time from the moment at which a call was to be made to its answer: the gap that callers see.
using System.Text.Json.Nodes;

namespace Ambrosia.Perf;

/// <summary>What <c>upgrade</c> does.</summary>
internal sealed class UpgradeCommand(ClusterOptions options)
{
    private const string Client = "client", Server = "server", Old = "upgraded-server-1", New = "upgraded-server-2";

    /// <summary>A round goes on for so long; the upgrade begins soon behind its beginning.</summary>
    private const int WarmSeconds = 3, RoundSeconds = 12;

    private static readonly TimeSpan s_before = TimeSpan.FromSeconds(1);

    /// <summary>The server's next start makes the upgrade.</summary>
    private bool _isReplica;

    /// <exception cref="FailedRoundException">A figure means nothing.</exception>
    public UpgradeResult Run(int rounds, int stateBytes, int perSecond)
    {
        Environment.SetEnvironmentVariable(UpgradedState.Variable, $"{stateBytes}");
        List<Latencies> inPlace = [], byReplica = [];
        for (int i = 0; i < rounds; i++)
        {
            foreach (bool isInPlace in i % 2 == 0 ? [true, false] : (ReadOnlySpan<bool>)[false, true])
                (isInPlace ? inPlace : byReplica).Add(RunOne($"{i}-{(isInPlace ? "place" : "replica")}", isInPlace, perSecond));
            options.Advance(1.0 / rounds);
            options.Report(
                $"round {i + 1} of {rounds}: longest gap {inPlace[^1].Max / 1000:F0} ms in place, {byReplica[^1].Max / 1000:F0} ms by a replica");
        }
        return new UpgradeResult(stateBytes, perSecond, inPlace, byReplica);
    }

    private Latencies RunOne(string name, bool isInPlace, int perSecond)
    {
        _isReplica = false;
        ClusterOptions own = options with { Directory = Path.Combine(options.Directory, name), OptionsOf = OptionsOf };
        using Cluster cluster = Cluster.Start(own, (Server, Old), (Client, "ping-client"));
        Ask(cluster, 1, WarmSeconds * perSecond, perSecond);
        AwaitLatencies(cluster, 1);
        cluster[Server].Checkpoint(); // a replica begins from it, and executes no calls of the warm-up
        Ask(cluster, 2, RoundSeconds * perSecond, perSecond);
        options.Stop.WaitHandle.WaitOne(s_before);
        if (isInPlace) UpgradeInPlace(cluster[Server]);
        else UpgradeByReplica(cluster);
        return AwaitLatencies(cluster, 2);
    }

    private IReadOnlyList<string> OptionsOf(string instance) =>
        _isReplica && instance == Server ? ["--upgrade-to", "2", "--old-app", $"\"{Member.OwnProgram}\" app {Old}"] : [];

    private void UpgradeInPlace(Member server)
    {
        var request = new JsonObject { ["command"] = "upgrade", ["app"] = new JsonArray(Member.OwnProgram, "app", New) };
        JsonObject made = AdminSocket.Ask(server.LogDirectory, server.Replica, request, options.Limit);
        if (made["version"]?.GetValue<int>() != 2) throw new FailedRoundException($"no upgrade: {made.ToJsonString()}");
    }

    private void UpgradeByReplica(Cluster cluster)
    {
        cluster[Server].MayEnd = true; // it finds itself replaced
        _isReplica = true;
        Member second = cluster.Add(Server, "r1", New);
        second.Start();
        cluster.AwaitReady([second]);
    }

    private static void Ask(Cluster cluster, int round, int calls, int perSecond) =>
        cluster.Tell(Client, $"open {round} {calls} {perSecond}");

    private static Latencies AwaitLatencies(Cluster cluster, int round)
    {
        string[] words = cluster.Await(line => line.Words is ["latencies", string of, ..] && of == $"{round}", "latencies").Words;
        return words[2] == "0" ? Latencies.Parse(words.AsSpan(4)) : throw new FailedRoundException($"{words[2]} answers are wrong");
    }
}

/// <summary>What <c>upgrade</c> measured, of each upgrade the latencies of the calls around it; each call was answered rightly.</summary>
internal sealed record UpgradeResult(int StateBytes, int PerSecond, IReadOnlyList<Latencies> InPlace, IReadOnlyList<Latencies> ByReplica)
{
    public double InPlaceMsMedian => Median.Of(InPlace, static each => each.Max) / 1000;

    public double ByReplicaMsMedian => Median.Of(ByReplica, static each => each.Max) / 1000;

    /// <summary>The median of the pairs.</summary>
    public double Ratio => Median.Of([.. InPlace.Zip(ByReplica, static (place, replica) => place.Max / replica.Max)], static each => each);
}
