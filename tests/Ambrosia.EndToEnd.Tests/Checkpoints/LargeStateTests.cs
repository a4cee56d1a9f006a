using Ambrosia.TestKit;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>
/// A state of gigabytes passes through a coordinator of real processes both ways in a few buffers, and its log goes on meanwhile.
/// </summary>
public sealed class LargeStateTests(ITestOutputHelper output)
{
    /// <summary>Of the whole process, the runtime and its libraries included, whatever the state's size.</summary>
    private const long PeakBytesMax = 64L << 20;

    /// <summary>
    /// Of what a state of gigabytes may take more than one of 1 MiB: the buffers on its way, all of them filled, and what garbage may
    /// come together meanwhile.
    /// </summary>
    private const long GrowthBytesMax = 10L << 20;

    private static long StateBytes => (long)Math.Clamp(4096 * TestScale.Value, 256, 4096) << 20;

    /// <summary>
    /// 4 GiB in a campaign: at its peak the coordinator has at most 64 MiB of memory in use, little more than for a state of 1 MiB.
    /// </summary>
    [Fact]
    public void Checkpoint_OfGigabytes_PassesInFewBuffersBothWays()
    {
        using var cluster = new Cluster();
        Replica replica = cluster.Add("large", "none");
        cluster.Run(Cluster.Again(nameof(Checkpoint_OfGigabytes_PassesInFewBuffersBothWays)), () =>
        {
            long small;
            using (ImageApp app = CheckpointRun.Start(replica, 1 << 20))
            {
                CheckpointRun.Checkpoint(replica, app);
                small = replica.PeakBytes();
                app.ImageBytes = StateBytes;
                long begun = Environment.TickCount64;
                CheckpointRun.Checkpoint(replica, app);
                output.WriteLine($"{StateBytes >> 20} MiB written, verified and published in {Environment.TickCount64 - begun} ms");
                AssertGrowth("written", small, replica.PeakBytes());
                Assert.Equal(2, app.Images);
            }
            replica.KillCoordinator();
            long restart = Environment.TickCount64;
            using ImageApp next = CheckpointRun.Start(replica, 0);
            output.WriteLine($"restored by the app {Environment.TickCount64 - restart} ms after the start");
            Assert.Equal(StateBytes, next.RestoredBytes);
            AssertGrowth("restored", small, replica.PeakBytes());
            cluster.AssertNoneGaveUp();
        });
    }

    /// <summary>
    /// The app says something to itself all the time; what it says is committed while its state is being written and verified.
    /// </summary>
    [Fact]
    public void Checkpoint_UnderLoad_CommitsGoOn()
    {
        using var cluster = new Cluster();
        Replica replica = cluster.Add("busy", "none");
        cluster.Run(Cluster.Again(nameof(Checkpoint_UnderLoad_CommitsGoOn)), () =>
        {
            using ImageApp app = CheckpointRun.Start(replica, StateBytes);
            app.IsBusy = true;
            app.BetweenChunks = app.Kick;
            app.Kick();
            long quietFrom = CheckpointRun.Groups(replica), begun = Environment.TickCount64;
            app.RunUntil(() => Environment.TickCount64 - begun > 1_000);
            long quiet = CheckpointRun.Groups(replica) - quietFrom, quietMs = Environment.TickCount64 - begun;

            begun = Environment.TickCount64;
            long from = CheckpointRun.Groups(replica);
            CheckpointRun.Checkpoint(replica, app);
            long during = CheckpointRun.Groups(replica) - from, duringMs = Math.Max(1, Environment.TickCount64 - begun);
            output.WriteLine(
                $"commits a second: {quiet * 1000 / quietMs} without, {during * 1000 / duringMs} during a checkpoint of {StateBytes >> 20} MiB ({duringMs} ms)");
            Assert.True(during >= (StateBytes >> 20) / 8, $"{during} commits while {StateBytes >> 20} chunks went by");
            cluster.AssertNoneGaveUp();
        });
    }

    private void AssertGrowth(string how, long before, long after)
    {
        output.WriteLine($"{how}: peak {before >> 10} KiB with a small state, {after >> 10} KiB with {StateBytes >> 20} MiB");
        Assert.True(after - before < GrowthBytesMax, $"{how}: {before >> 20} MiB before, {after >> 20} MiB after");
        Assert.True(after <= PeakBytesMax, $"{how}: {after} bytes");
    }
}
