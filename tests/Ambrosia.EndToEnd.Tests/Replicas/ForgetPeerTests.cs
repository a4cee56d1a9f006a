using System.Text.Json;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>
/// A ledger's directory is deleted and made again under a source that remembers the old one: its operator gives that up, and the calls go
/// on from number 1, each once, through kills and failovers.
/// </summary>
public sealed class ForgetPeerTests : ReplicaTests
{
    private const int Misuse = 2;

    [Fact]
    public void Peer_DeletedAndMadeAgain_IsForgottenAndServedFromNumberOne()
    {
        using var cluster = new Cluster();
        cluster.Run(Cluster.Again(nameof(Peer_DeletedAndMadeAgain_IsForgottenAndServedFromNumberOne)), () =>
        {
            (ReplicaSet source, ReplicaSet ledger) = StartAndDelete(cluster, sources: 2, whileConnected: log =>
            {
                AssertMisuse(log, "ledger", "is connected");
                AssertMisuse(log, "nobody", "knows no peer 'nobody'");
            });
            // whichever side judged the hello first
            Cluster.Await("the reason in the status", () => LinkOf(cluster) is { State: "stopped" or "waiting", HasReason: true });
            Tool forgotten = Tool.Run("forget-peer", source.Members[0].LogDirectory, "ledger", "--json");
            Assert.True(forgotten.Code == 0, forgotten.Error);
            Assert.True(forgotten.Json.GetProperty("droppedCalls").GetUInt64() > 0);
            Cluster.Await("the link to the new ledger", () => LinkOf(cluster).State == "open");
            source.Members[1].Lines.Await("line of the standby, which came by, too", IsForgotten, 0, Cluster.Patience);
            Assert.Single(source.Members[1].Lines.From(0), IsForgotten);
            source.Members[0].KillCoordinator(); // the standby goes on
            ReplicaSet.AwaitCaughtUp(source.Members[0].Start());
            source.KillAll();
            source.Members[0].Start(); // and somebody replays it all
            Finish(cluster, source);
            Assert.Equal(0, Tool.Run("verify", source.Members[0].LogDirectory).Code);
            Assert.Contains("\"forget\"", Tool.Run("log", source.Members[0].LogDirectory, "--kind", "forget", "--json").Output);
        });
    }

    /// <summary>It was called and never met: the calls that wait for it fail, and one that comes later is called from number 1.</summary>
    [Fact]
    public void Peer_ThatNeverCame_IsForgottenByAPattern()
    {
        using var cluster = new Cluster();
        cluster.Run(Cluster.Again(nameof(Peer_ThatNeverCame_IsForgottenByAPattern)), () =>
        {
            (ReplicaSet source, ReplicaSet ledger) = Pair(cluster, "--retain", "all");
            source.Start(2);
            foreach (Replica member in source.Members) ReplicaSet.AwaitCaughtUp(member);
            string log = source.Members[0].LogDirectory;
            Tool asked = Tool.Run("forget-peer", log, "led*");
            Assert.Equal(1, asked.Code); // nobody says yes
            Assert.Equal("ledger, 51 calls wait", asked.Output.Trim());
            Tool forgotten = Tool.Run("forget-peer", log, "led*", "--yes", "--json");
            Assert.True(forgotten.Code == 0, forgotten.Error);
            Assert.Equal(51ul, forgotten.Json.GetProperty("droppedCalls").GetUInt64());
            source.Members[1].Lines.Await("line of the standby, which came by, too", IsForgotten, 0, Cluster.Patience);
            source.KillAll();
            source.StartStopped();
            ledger.Start(1);
            Finish(cluster, source);
            Assert.Equal(0, Tool.Run("verify", log).Code);
        });
    }

    [Theory]
    [MemberData(nameof(Steps))]
    public void Primary_KilledWhileItForgets_ForgetsWhenItIsBack(string step)
    {
        using var cluster = new Cluster();
        cluster.Run(Cluster.Again($"{nameof(Primary_KilledWhileItForgets_ForgetsWhenItIsBack)}&DisplayName~{step}"), () =>
        {
            (ReplicaSet source, _) = StartAndDelete(cluster, sources: 1, whileConnected: static _ => { }, crashAt: step);
            Replica dying = source.Members[0];
            int code = Tool.Run("forget-peer", dying.LogDirectory, "ledger").Code;
            // nobody is left to answer; behind it the answer may be out before the kill
            if (step == "forget.before") Assert.NotEqual(0, code);
            Assert.Equal(Signals.KilledExitCode, dying.AwaitExit());
            dying.Start();
            Finish(cluster, source);
            Assert.Equal(0, Tool.Run("verify", dying.LogDirectory).Code);
        });
    }

    public static IEnumerable<object[]> Steps() => CrashPoints.Forgetting.Select(static step => new object[] { step });

    private static bool IsForgotten(string line) => line.StartsWith("link ledger: forgotten", StringComparison.Ordinal);

    private static (ReplicaSet Source, ReplicaSet Ledger) StartAndDelete(
        Cluster cluster, int sources, Action<string> whileConnected, string? crashAt = null)
    {
        (ReplicaSet source, ReplicaSet ledger) = Pair(cluster, "--checkpoint-every", "256K", "--retain", "all");
        ledger.Start(1);
        if (crashAt is null) source.Start(sources);
        else source.Add().Start(crashAt);
        foreach (Replica member in source.Members) ReplicaSet.AwaitCaughtUp(member);
        Replica deleted = ledger.Members[0];
        Cluster.Await("checkpoints of the source", () => Directory.EnumerateFiles(source.Members[0].LogDirectory, "ckpt.*").Any());
        whileConnected(source.Members[0].LogDirectory);
        deleted.KillCoordinator();
        Directory.Delete(deleted.LogDirectory, recursive: true);
        deleted.Options.Add("--create");
        deleted.Start().AwaitReady();
        source.Members[0]
            .AwaitLine("the way out", static line => line.Contains("ambrosia forget-peer DIR ledger", StringComparison.Ordinal));
        return (source, ledger);
    }

    /// <summary>State of the source's link to the ledger, and whether there is a reason for it that names the way out.</summary>
    private static (string? State, bool HasReason) LinkOf(Cluster cluster)
    {
        JsonElement link = Tool.Run("status", "--catalog", Path.Combine(cluster.Root, "catalog"), "--json").Json.GetProperty("instances")
            .EnumerateArray()
            .Single(static i => i.GetProperty("instance").GetString() == "source").GetProperty("replicas").EnumerateArray()
            .Single(static r => r.GetProperty("role").GetString() == "primary").GetProperty("links").EnumerateArray().Single();
        return (link.GetProperty("state").GetString(),
            link.TryGetProperty("why", out JsonElement why) && why.GetString()!.Contains("forget-peer", StringComparison.Ordinal));
    }

    private static void AssertMisuse(string log, string peer, string why)
    {
        Tool run = Tool.Run("forget-peer", log, peer);
        Assert.Equal((Misuse, ""), (run.Code, run.Output));
        Assert.Contains(why, run.Error);
    }
}
