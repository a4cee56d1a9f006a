using Ambrosia.EndToEnd.App;
using Ambrosia.TestKit;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>
/// Apps that flood each other and lag, in pairs, in a ring, each itself, or one who is away: nobody waits for somebody who waits for him,
/// and memory stays bounded.
/// </summary>
public sealed class FloodTests
{
    private const int CallsOfARelease = 1_000_000, FillBytes = 1_000, SpilledBytesMin = 120 << 20;
    private const long ResidentBytesMax = 400L << 20;

    /// <summary>Each sends to the next in the list, and the last to the first.</summary>
    [Theory]
    [InlineData(1, "left", "right")]
    [InlineData(4, "north", "east", "south", "west")]
    [InlineData(2, "alone")]
    public void Instances_FloodingInACircleWhileTheirAppsLag_FinishWithinTheirMemory(int share, params string[] names)
    {
        int calls = TestScale.Rounds(CallsOfARelease) / share;
        using var cluster = new Cluster();
        Replica[] all = [.. names.Select((name, i) => Flooder(cluster, name, names[(i + 1) % names.Length], calls))];
        cluster.Run(Cluster.Again(nameof(FloodTests)), () =>
        {
            foreach (Replica replica in all) replica.Start();
            long most = 0;
            Cluster.Await("every verdict", () =>
            {
                most = Math.Max(most, all.Max(static replica => replica.ResidentBytes()));
                return all.All(static replica => HasVerdict(replica));
            }, Cluster.Patience * Math.Max(1, 10 * TestScale.Value));
            foreach (Replica replica in all) Cluster.AssertEqual(replica, calls);
            Assert.True(most < ResidentBytesMax, $"a coordinator had {most >> 20} MiB");
            cluster.AssertNoneGaveUp();
        });
    }

    /// <summary>
    /// Two get the same calls and one of them is away: the other has all of them before it comes; what waits is in the scratch file; and
    /// then it catches up to the last call.
    /// </summary>
    [Fact]
    public void Peer_AwayForAllCalls_HoldsNobodyUpAndCatchesUp()
    {
        int calls = TestScale.Rounds(CallsOfARelease);
        using var cluster = new Cluster();
        Replica sender = Flooder(cluster, "sender", "near", calls), near = Flooder(cluster, "near", "sender", 1),
            away = Flooder(cluster, "away", "sender", 1);
        sender.Settings["SECOND"] = "away";
        sender.Settings["FILL"] = $"{Math.Max(FillBytes, SpilledBytesMin / calls)}";
        near.Settings["LAG_MS"] = away.Settings["LAG_MS"] = "0";
        cluster.Run(Cluster.Again(nameof(FloodTests)), () =>
        {
            near.Start();
            sender.Start();
            long most = 0, spilled = 0;
            string scratch = Path.Combine(sender.LogDirectory, "scratch.r0");
            Cluster.Await("the near one's verdict", () =>
            {
                Look();
                return HasVerdict(sender);
            }, Cluster.Patience * Math.Max(1, 10 * TestScale.Value));
            Assert.True(spilled > 0, "nothing was spilled");
            away.Start();
            Cluster.Await("the second verdict", () =>
            {
                Look();
                return sender.Lines.Find(static line => line.StartsWith("second verdict ", StringComparison.Ordinal)) is not null;
            }, Cluster.Patience * Math.Max(1, 10 * TestScale.Value));
            Assert.NotNull(sender.Lines.Find(static line => line.StartsWith("second verdict equal", StringComparison.Ordinal)));
            Cluster.AssertEqual(sender, calls);
            Assert.True(most < ResidentBytesMax, $"the coordinator had {most >> 20} MiB, {spilled >> 20} MiB were spilled");
            Cluster.Await("the scratch file is empty again", () => !File.Exists(scratch) || new FileInfo(scratch).Length == 0);
            cluster.AssertNoneGaveUp();

            void Look()
            {
                most = Math.Max(most, sender.ResidentBytes());
                if (File.Exists(scratch)) spilled = Math.Max(spilled, new FileInfo(scratch).Length);
            }
        });
    }

    private static Replica Flooder(Cluster cluster, string name, string peer, int calls)
    {
        Replica replica = cluster.Add(name, "flooder");
        replica.Settings["PEER"] = peer;
        replica.Settings["CALLS"] = $"{calls}";
        replica.Settings["BURST"] = "1000";
        replica.Settings["FILL"] = $"{FillBytes}";
        replica.Settings["LAG_MS"] = "20";
        return replica;
    }

    private static bool HasVerdict(Replica replica) =>
        replica.Lines.Find(static line => line.StartsWith("verdict ", StringComparison.Ordinal)) is not null;
}
