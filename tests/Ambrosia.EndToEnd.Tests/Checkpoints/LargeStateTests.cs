using System.Text.Json.Nodes;
using Ambrosia.Coordinator.Pumps;
using Ambrosia.Log;
using Ambrosia.TestKit;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>A state of gigabytes passes through a coordinator of real processes both ways in a few buffers.</summary>
public sealed class LargeStateTests(ITestOutputHelper output)
{
    private const long GrowthBytesMax = 64L << 20;
    private static readonly TimeSpan patience = TimeSpan.FromMinutes(8);

    /// <summary>4 GiB in a campaign; the coordinator's peak grows by less than 64 MiB over what it needs for a state of 1 MiB.</summary>
    [Fact]
    public void Checkpoint_OfGigabytes_PassesInFewBuffersBothWays()
    {
        long stateBytes = (long)Math.Max(256, Math.Min(4096, 4096 * TestScale.Value)) << 20;
        using var cluster = new Cluster();
        Replica replica = cluster.Add("large", "none");
        cluster.Run(Cluster.Again(nameof(Checkpoint_OfGigabytes_PassesInFewBuffersBothWays)), () =>
        {
            using (ImageApp app = Start(replica, 1 << 20))
            {
                Checkpoint(replica, app);
                long before = replica.PeakBytes();
                app.ImageBytes = stateBytes;
                Checkpoint(replica, app);
                AssertGrowth("written", before, replica.PeakBytes());
                Assert.Equal(2, app.Images);
            }
            replica.KillCoordinator();
            using ImageApp next = Start(replica, 0);
            Assert.Equal(stateBytes, next.RestoredBytes);
            AssertGrowth("restored", 0, replica.PeakBytes() - (64L << 20)); // the program itself, before any state
            cluster.AssertNoneGaveUp();
        });
    }

    private void AssertGrowth(string how, long before, long after)
    {
        output.WriteLine($"{how}: peak {before >> 20} MiB before, {after >> 20} MiB after");
        Assert.True(after - before < GrowthBytesMax, $"{how}: {before >> 20} MiB before, {after >> 20} MiB after");
    }

    private static ImageApp Start(Replica replica, long imageBytes)
    {
        replica.Start(withApp: false);
        replica.AwaitLine("open app channel", static line => line.Contains("app channel", StringComparison.Ordinal));
        var app = new ImageApp(replica, imageBytes);
        app.RunUntil(() => app.IsPrimary, patience);
        replica.AwaitReady();
        return app;
    }

    private static void Checkpoint(Replica replica, ImageApp app)
    {
        Task<JsonObject> asked = Task.Run(() => AdminClient.Ask(new PosixFileSystem(), replica.LogDirectory, "r0", new JsonObject { ["command"] = "checkpoint" }, patience).Last());
        app.RunUntil(() => asked.IsCompleted, patience);
        Assert.True(asked.Result["published"] is not null, asked.Result.ToJsonString());
    }
}
