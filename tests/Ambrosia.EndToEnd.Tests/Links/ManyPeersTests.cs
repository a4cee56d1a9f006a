using Ambrosia.TestKit;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>
/// One instance in the middle of 64 busy peers, one that reads slowly and one that is away: the busy ones are not held up by the others,
/// what waits goes to the scratch file, and in the end each has everything once and in order.
/// </summary>
public sealed class ManyPeersTests(ITestOutputHelper output)
{
    private const int BusyPeers = 64, CallsOfARelease = 5_000, FillBytes = 1_000, SpilledBytesMin = 150 << 20;
    private const long ResidentBytesMax = 400L << 20;

    private static readonly TimeSpan s_patience = Cluster.Patience * Math.Max(1, 10 * TestScale.Value);

    [Theory]
    [InlineData(0)]
    [InlineData(3)]
    public void Hub_WithBusyASlowAndAnAbsentPeer_ServesAllAndForgetsNothing(int kills)
    {
        var chance = new Chance();
        int calls = Math.Max(100, TestScale.Rounds(CallsOfARelease));
        ulong all = (ulong)(calls * BusyPeers);
        using var cluster = new Cluster();
        Replica hub = cluster.Add("hub", "hub");
        hub.Settings["FILL"] = $"{Math.Max(FillBytes, SpilledBytesMin / 2 / (int)all)}";
        hub.Options.AddRange(["--checkpoint-every", "16M"]);
        List<LeanTraffic> peers = [];
        try
        {
            cluster.Run(chance.Again(nameof(ManyPeersTests)), () =>
            {
                hub.Start().AwaitReady();
                for (int i = 0; i < BusyPeers; i++) peers.Add(new LeanTraffic(Peer(cluster, $"busy-{i}", i, calls, chance)));
                List<LeanTraffic> busy = [.. peers];
                LeanTraffic slow = Add(peers, new LeanTraffic(Peer(cluster, "slow", BusyPeers, 0, chance), isSlow: true));
                for (int kill = 1; kill <= kills; kill++)
                {
                    ulong due = (ulong)(calls * kill / (kills + 1));
                    Cluster.Await("calls before a kill", () => Faults(peers) || busy.Max(static peer => peer.Received) > due, s_patience);
                    hub.KillCoordinator();
                    hub.Start().AwaitReady();
                }
                Cluster.Await("all that the busy ones wait for",
                    () => Faults(peers) || busy.All(peer => peer.Received == (ulong)calls && peer.Acknowledged == (ulong)calls), s_patience);
                AssertNoFault(peers);
                Assert.True(slow.Received < all, "the slow one was not slow");
                string scratch = Path.Combine(hub.LogDirectory, "scratch.r0");
                long spilled = new FileInfo(scratch).Length;
                Assert.True(spilled > 0, "nothing was spilled");

                slow.Hurry();
                LeanTraffic away = Add(peers, new LeanTraffic(Peer(cluster, "away", BusyPeers + 1, 0, chance)));
                Cluster.Await("all that the others missed",
                    () => Faults(peers) || (slow.Received == all && away.Received == all), s_patience);
                AssertNoFault(peers);
                Cluster.Await("the scratch file is empty again", () => !File.Exists(scratch) || new FileInfo(scratch).Length == 0);
                Assert.True(hub.PeakBytes() < ResidentBytesMax,
                    $"the coordinator had {hub.PeakBytes() >> 20} MiB, {spilled >> 20} MiB were spilled");
                output.WriteLine(
                    $"{all} calls, {spilled >> 20} MiB spilled, at most {hub.PeakBytes() >> 20} MiB resident, {peers.Sum(static peer => peer.Connections)} connections");
                cluster.AssertNoneGaveUp();
            });
        }
        finally
        {
            foreach (LeanTraffic peer in peers) peer.Dispose();
        }
    }

    /// <summary>Negative control: one call that is not passed on is found by whoever misses it.</summary>
    [Fact]
    public void Hub_ThatForgetsOneCall_IsFoundOut()
    {
        var chance = new Chance();
        using var cluster = new Cluster();
        Replica hub = cluster.Add("hub", "hub");
        hub.Settings["FORGET"] = "77";
        hub.Start().AwaitReady();
        using var busy = new LeanTraffic(Peer(cluster, "busy", 0, 100, chance));
        using var away = new LeanTraffic(Peer(cluster, "away", 1, 0, chance));
        Cluster.Await("the fault", () => away.Fault is not null);
        Assert.Contains("78 came where 77 was next", away.Fault);
        Assert.Null(busy.Fault);
        cluster.Passed();
    }

    private static LeanPeer Peer(Cluster cluster, string name, int number, int calls, Chance chance)
    {
        var peer = new LeanPeer(cluster, "hub", name, number, chance);
        peer.Make(calls);
        return peer;
    }

    private static LeanTraffic Add(List<LeanTraffic> peers, LeanTraffic peer)
    {
        peers.Add(peer);
        return peer;
    }

    private static bool Faults(List<LeanTraffic> peers) => peers.Any(static peer => peer.Fault is not null);

    private static void AssertNoFault(List<LeanTraffic> peers) => Assert.Empty(peers.Select(static peer => peer.Fault).OfType<string>());
}
