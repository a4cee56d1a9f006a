using Ambrosia.Client;
using Ambrosia.EndToEnd.App;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>
/// What the framework says of its exceptions may change from one version of it to the next. These processes really differ in it: one has
/// the framework's texts, the other their keys. Each makes the calls, the answers and the images that the other one has made.
/// </summary>
public sealed class RewordedFrameworkTests
{
    private const string Reword = "REWORD", RewordedLine = "words Arg_KeyNotFound";
    private const int FillBytes = 8 << 10;

    [Fact]
    public async Task Replay_ByAFrameworkOfOtherWords_MakesTheSameCallsAndAnswers()
    {
        using var cluster = new Cluster();
        Replica clumsy = cluster.Add("clumsy", "clumsy");
        clumsy.Options.AddRange(["--fork-policy", "quarantine"]);
        await cluster.RunAsync(Cluster.Again(nameof(Replay_ByAFrameworkOfOtherWords_MakesTheSameCallsAndAnswers)), async () =>
        {
            clumsy.Start();
            await using ImmortalClient client = await cluster.ConnectAsync("clumsy");
            ClientProxy<IClumsy> proxy = client.GetProxy<IClumsy>();
            string[] before = await Failures(proxy);
            string[] told = await Told(proxy);
            for (int way = 0; way < Clumsy.Ways; way++) await proxy.WithKey($"t{way}").TripLogged(way).WaitAsync(Cluster.Patience);
            Cluster.Await("the log has rested, and is digested", () => clumsy.Status()?["digestsCompared"]?.GetValue<long>() > 0);

            clumsy.KillCoordinator();
            clumsy.Settings[Reword] = "1";
            clumsy.Start().AwaitReady(); // it is not, if calls or answers differ
            clumsy.AwaitLine("other words", static line => line.StartsWith(RewordedLine, StringComparison.Ordinal));
            Assert.Equal(before, await Failures(proxy));
            Assert.Equal(told, await Told(proxy));
            Assert.Contains("System.Collections.Generic.KeyNotFoundException: "
                + "System.Collections.Generic.KeyNotFoundException was thrown.", told);
            Assert.Contains("System.ArgumentException: too much (Parameter 'cents')", told);
            cluster.AssertNoneGaveUp();
        });
    }

    [Fact]
    public async Task Secondary_OfAFrameworkOfOtherWords_MakesTheSameImages()
    {
        using var cluster = new Cluster();
        var set = new ReplicaSet(cluster, "clumsy", "clumsy");
        set.Options.AddRange(["--fork-policy", "quarantine", "--checkpoint-every", "64K", "--retain", "all"]);
        await cluster.RunAsync(Cluster.Again(nameof(Secondary_OfAFrameworkOfOtherWords_MakesTheSameImages)), async () =>
        {
            set.Start(1);
            Replica other = set.Add();
            other.Settings[Reword] = "1";
            other.Start();
            ReplicaSet.AwaitCaughtUp(other);
            other.AwaitLine("other words", static line => line.StartsWith(RewordedLine, StringComparison.Ordinal));
            await using ImmortalClient client = await cluster.ConnectAsync("clumsy");
            ClientProxy<IClumsy> proxy = client.GetProxy<IClumsy>();
            string[] before = await Failures(proxy);
            await Told(proxy);
            for (int way = 0; way < Clumsy.Ways; way++) await proxy.WithKey($"t{way}").TripLogged(way).WaitAsync(Cluster.Patience);

            // The primary takes every fourth checkpoint, and the other one's image there is held against it.
            byte[] filling = new byte[FillBytes];
            while (!TookCheckpoint(set, "r0") || !TookCheckpoint(set, "r1"))
            {
                await proxy.FillAsync(filling).WaitAsync(Cluster.Patience);
                Assert.True(other.IsRunning, $"it ended:\n{other.Lines}");
            }
            set.Members[0].KillCoordinator();
            other.AwaitReady();
            Assert.Equal(before, await Failures(proxy));
            cluster.AssertNoneGaveUp();
        });
    }

    private static bool TookCheckpoint(ReplicaSet set, string replica) =>
        Directory.EnumerateFiles(set.Members[0].LogDirectory, $"ckpt.*.{replica}").Any();

    /// <summary>The failures of calls with keys: the first time they are made, and then found.</summary>
    private static async Task<string[]> Failures(ClientProxy<IClumsy> proxy)
    {
        var failures = new string[Clumsy.Ways];
        for (int way = 0; way < failures.Length; way++)
        {
            RequestFailedException failure = await Assert.ThrowsAsync<RequestFailedException>(
                () => proxy.WithKey($"f{way}").FailAsync(way).WaitAsync(Cluster.Patience));
            failures[way] = $"{failure.TypeName}: {failure.Message} ({failure.InnerException?.Message})";
        }
        return failures;
    }

    /// <summary>What the immortal hears of its own failures, which is state.</summary>
    private static async Task<string[]> Told(ClientProxy<IClumsy> proxy)
    {
        var told = new string[Clumsy.Ways];
        for (int way = 0; way < told.Length; way++) told[way] = await proxy.AskAsync(way).WaitAsync(Cluster.Patience);
        return told;
    }
}
