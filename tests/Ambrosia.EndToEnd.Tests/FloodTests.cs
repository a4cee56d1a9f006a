using Ambrosia.TestKit;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>Two apps that flood each other and lag: nobody waits for somebody who waits for him, and memory stays bounded.</summary>
public sealed class FloodTests
{
    private const int CallsOfARelease = 1_000_000, FillBytes = 1_000;
    private const long ResidentBytesMax = 400L << 20;

    [Fact]
    public void Instances_FloodingEachOtherWhileTheirAppsLag_FinishWithinTheirMemory()
    {
        int calls = TestScale.Rounds(CallsOfARelease);
        using var cluster = new Cluster();
        Replica left = cluster.Add("left", "flooder"), right = cluster.Add("right", "flooder");
        foreach ((Replica replica, string peer) in new[] { (left, "right"), (right, "left") })
        {
            replica.Settings["PEER"] = peer;
            replica.Settings["CALLS"] = $"{calls}";
            replica.Settings["BURST"] = "1000";
            replica.Settings["FILL"] = $"{FillBytes}";
            replica.Settings["LAG_MS"] = "20";
        }
        cluster.Run(Cluster.Again(nameof(FloodTests)), () =>
        {
            left.Start();
            right.Start();
            long most = 0;
            Cluster.Await("both verdicts", () =>
            {
                most = Math.Max(most, Math.Max(left.ResidentBytes(), right.ResidentBytes()));
                return HasVerdict(left) && HasVerdict(right);
            }, Cluster.Patience * Math.Max(1, 10 * TestScale.Value));
            Cluster.AssertEqual(left, calls);
            Cluster.AssertEqual(right, calls);
            Assert.True(most < ResidentBytesMax, $"a coordinator had {most >> 20} MiB");
            cluster.AssertNoneGaveUp();
        });
    }

    private static bool HasVerdict(Replica replica) => replica.Lines.Find(static line => line.StartsWith("verdict ", StringComparison.Ordinal)) is not null;
}
