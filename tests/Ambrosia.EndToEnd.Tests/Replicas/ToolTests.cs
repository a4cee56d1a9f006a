using System.Diagnostics;
using System.Text.Json;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>The operators' command against coordinators at work: two instances of two replicas each.</summary>
public sealed class ToolTests : ReplicaTests
{
    private const int Difference = 1, Misuse = 2, NotPrimary = 75;

    [Fact]
    public void Status_OfTwoInstances_ShowsEveryReplicaInTextAndJson()
    {
        using var cluster = new Cluster();
        cluster.Run(Cluster.Again(nameof(Status_OfTwoInstances_ShowsEveryReplicaInTextAndJson)), () =>
        {
            (ReplicaSet source, ReplicaSet ledger) = StartTwice(cluster);
            JsonElement ofLedger = AwaitStatus(cluster, static i => Replicas(i, "ledger").All(static r => HasExecuted(r))
                && new[] { "source", "ledger" }.All(
                    name =>
                        Replicas(i, name)
                            .Any(
                                static r =>
                                    r.GetProperty("links").EnumerateArray().Any(static l => l.GetProperty("state").GetString() == "open"))),
                                    "ledger");
            JsonElement[] replicas = [.. ofLedger.GetProperty("replicas").EnumerateArray()];
            Assert.Equal(["r0 primary", "r1 secondary"],
                replicas.Select(static r => $"{r.GetProperty("replica").GetString()} {r.GetProperty("role").GetString()}"));
            Assert.All(replicas, static r => Assert.Equal(1ul, r.GetProperty("epoch").GetUInt64()));
            Assert.All(replicas, static r => Assert.True(r.GetProperty("executed").GetUInt64() <= r.GetProperty("durable").GetUInt64()));
            Assert.All(replicas,
                static r => Assert.Equal((0ul, false), (r.GetProperty("spilledBytes").GetUInt64(), r.TryGetProperty("waitsFor", out _))));
            Assert.Equal("source", replicas[0].GetProperty("links")[0].GetProperty("peer").GetString());
            Assert.Equal(0, replicas[1].GetProperty("links").GetArrayLength());

            Tool text = Status(cluster);
            Assert.Equal((0, ""), (text.Code, text.Error));
            string[] lines = text.Output.Split('\n');
            Assert.Equal(["instance", "replica", "role", "app", "epoch", "executed", "durable", "lag", "kept", "calls", "links"],
                lines[0].Split(' ', StringSplitOptions.RemoveEmptyEntries));
            Assert.Equal(["ledger r0 primary 1 1", "ledger r1 secondary 1 1", "source r0 primary 1 1", "source r1 secondary 1 1"],
                lines[1..5].Select(static line => string.Join(' ', line.Split(' ', StringSplitOptions.RemoveEmptyEntries)[..5])));
            Finish(cluster, source);
        });
    }

    [Fact]
    public void Status_InstanceWithoutAPrimary_EndsWithOneAndShowsWhoWaits()
    {
        using var cluster = new Cluster();
        cluster.Run(Cluster.Again(nameof(Status_InstanceWithoutAPrimary_EndsWithOneAndShowsWhoWaits)), () =>
        {
            (ReplicaSet source, ReplicaSet ledger) = Pair(cluster);
            ledger.Start(1);
            source.Start(1);
            ledger.KillAll();
            JsonElement ofSource = AwaitStatus(cluster,
                static i => Replicas(i, "source").Any(static r => r.GetProperty("orphaned").GetArrayLength() > 0), "source");
            JsonElement orphaned = ofSource.GetProperty("replicas")[0].GetProperty("orphaned")[0];
            Assert.Equal("ledger", orphaned.GetProperty("to").GetString());
            Assert.True(orphaned.GetProperty("calls").GetUInt64() > 0);
            Tool text = Status(cluster);
            Assert.Equal(Difference, text.Code);
            Assert.Contains("ledger: no replica answers on this machine", text.Output);
            Assert.Contains("to ledger wait, and no link leads there", text.Output);
            Directory.Move(ledger.Members[0].LogDirectory, Path.Combine(cluster.Root, "away"));
            Assert.Contains("cannot be reached from here", Status(cluster).Output);
            Directory.Move(Path.Combine(cluster.Root, "away"), ledger.Members[0].LogDirectory);
            ledger.Members[0].Start();
            Finish(cluster, source);
        });
    }

    /// <summary>Again each second, each time as things are then, until it is interrupted.</summary>
    [Fact]
    public void StatusWatch_WhileAReplicaComes_ShowsItFromThenOn()
    {
        using var cluster = new Cluster();
        cluster.Run(Cluster.Again(nameof(StatusWatch_WhileAReplicaComes_ShowsItFromThenOn)), () =>
        {
            (ReplicaSet source, ReplicaSet ledger) = Pair(cluster);
            ledger.Start(1);
            source.Start(1);
            using var watch = new Process
            {
                StartInfo = Executables.StartOf(Executables.Ambrosia,
                    ["status", "--catalog", Path.Combine(cluster.Root, "catalog"), "--watch", "--json"], new Dictionary<string, string>(),
                    AppContext.BaseDirectory)
            };
            watch.Start();
            try
            {
                Assert.Equal(["r0"], Seen(watch));
                ledger.Add().Start();
                Cluster.Await("both replicas", () => Seen(watch) is ["r0", "r1"]);
                Assert.False(watch.HasExited);
            }
            finally
            {
                Signals.Kill(watch.Id);
            }
            Finish(cluster, source);
        });
    }

    private static string[] Seen(Process watch)
    {
        using JsonDocument status = JsonDocument.Parse(watch.StandardOutput.ReadLine()!);
        return [
            .. Replicas(status.RootElement.GetProperty("instances"), "ledger").Select(static r => r.GetProperty("replica").GetString()!)];
    }

    /// <summary>Under load a secondary is always a little behind: the operator's one command works all the same.</summary>
    [Fact]
    public void Promote_UnderLoad_TakesOneCommand()
    {
        using var cluster = new Cluster();
        cluster.Run(Cluster.Again(nameof(Promote_UnderLoad_TakesOneCommand)), () =>
        {
            (ReplicaSet source, ReplicaSet ledger) = StartTwice(cluster);
            string log = ledger.Members[0].LogDirectory;
            Tool promoted = Tool.Run("promote", log, "r1", "--json");
            Assert.True(promoted.Code == 0, promoted.Error);
            Assert.Equal(2ul, promoted.Json.GetProperty("epoch").GetUInt64());
            Assert.Equal(NotPrimary, ledger.Members[0].AwaitExit());
            AssertMisuse(["promote", log, "r1"], "replica 'r1' refuses; this replica is primary already; Ask a secondary");
            AssertMisuse(["promote", log, "r0"], "replica 'r0' gives no answer; ", "these run here: r1");
            AssertMisuse(["promote", Path.Combine(cluster.Root, "nowhere"), "r0"], "is not there; a log is a directory; ");
            AssertMisuse(["status", "--catalog", Path.Combine(cluster.Root, "nowhere")], "is not there; a catalog is a directory; ");
            JsonElement error = Tool.Run("retire", log, "r1", "--json").JsonError;
            Assert.Equal("replica 'r1' refuses", error.GetProperty("what").GetString());
            Assert.Contains("no other replica runs", error.GetProperty("why").GetString());
            Assert.Contains("Start another first", error.GetProperty("mend").GetString());
            Finish(cluster, source);
        });
    }

    /// <summary>The recipe of docs/operating.md: start one elsewhere, wait until it follows, retire the old ones.</summary>
    [Fact]
    public void Relocation_ByTheRecipe_NothingIsLost()
    {
        using var cluster = new Cluster();
        cluster.Run(Cluster.Again(nameof(Relocation_ByTheRecipe_NothingIsLost)), () =>
        {
            (ReplicaSet source, ReplicaSet ledger) = StartTwice(cluster);
            string log = ledger.Members[0].LogDirectory;
            Replica elsewhere = ledger.Add().Start();
            AwaitStatus(cluster,
                static i => Replicas(i, "ledger").Any(static r => r.GetProperty("replica").GetString() == "r2" && HasExecuted(r)),
                "ledger");
            Tool promoted = Tool.Run("promote", log, "r2");
            Assert.Equal((0, "r2: is primary in epoch 2\n"), (promoted.Code, promoted.Output));
            Assert.Equal(NotPrimary, ledger.Members[0].AwaitExit());
            Tool retired = Tool.Run("retire", log, "r1");
            Assert.Equal((0, "r1: has ended; there remain r2\n"), (retired.Code, retired.Output));
            Assert.Equal(0, ledger.Members[1].AwaitExit());
            elsewhere.AwaitReady();
            Finish(cluster, source);
        });
    }

    private static Tool Status(Cluster cluster, params string[] more) =>
        Tool.Run(["status", "--catalog", Path.Combine(cluster.Root, "catalog"), .. more]);

    private static JsonElement AwaitStatus(Cluster cluster, Func<JsonElement, bool> wanted, string instance)
    {
        JsonElement all = default;
        Cluster.Await("status", () => wanted(all = Status(cluster, "--json").Json.GetProperty("instances")));
        return Of(all, instance);
    }

    private static IEnumerable<JsonElement> Replicas(JsonElement instances, string name) =>
        Of(instances, name).GetProperty("replicas").EnumerateArray();

    private static bool HasExecuted(JsonElement replica) =>
        replica.TryGetProperty("executed", out JsonElement executed) && executed.GetUInt64() > 0;

    private static JsonElement Of(JsonElement instances, string name) =>
        instances.EnumerateArray().Single(i => i.GetProperty("instance").GetString() == name);

    private static void AssertMisuse(string[] arguments, params string[] parts)
    {
        Tool run = Tool.Run(arguments);
        Assert.Equal((Misuse, ""), (run.Code, run.Output));
        Assert.All(parts, part => Assert.Contains(part, run.Error));
    }
}
