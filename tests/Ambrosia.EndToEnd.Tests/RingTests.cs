using Ambrosia.TestKit;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>
/// Chains of awaited calls round a ring of three and WhenAll over 100, never quiet, with a checkpoint at nearly every chance, so each is
/// taken with suspended handlers in it. Whoever is killed, each call has taken effect once, in order, and every answer is the right one.
/// </summary>
public sealed class RingTests(ITestOutputHelper output)
{
    private const int KillsOfARelease = 20, KillsMin = 3, PauseMsMax = 500;
    private static readonly string[] s_names = ["one", "two", "three"];

    /// <summary>One: of a member that chance picks each time. The others: of each member by the toss of a coin.</summary>
    public enum Victims { OneApp, OneCoordinator, OneSide, Apps, Coordinators, All }

    [Theory]
    [InlineData(Victims.OneApp)]
    [InlineData(Victims.OneCoordinator)]
    [InlineData(Victims.OneSide)]
    [InlineData(Victims.Apps)]
    [InlineData(Victims.Coordinators)]
    [InlineData(Victims.All)]
    public void Ring_KilledAtRandomMoments_AnswersEachCallOnce(Victims victims)
    {
        var chance = new Chance();
        int kills = Math.Max(KillsMin, TestScale.Rounds(KillsOfARelease));
        output.WriteLine($"{kills} kills of {victims}, seed {chance.Seed}");
        using var cluster = new Cluster();
        Replica[] ring = [.. Enumerable.Range(0, s_names.Length).Select(place => Add(cluster, place))];
        cluster.Run(chance.Again($"Ring_Killed&DisplayName~{victims}"), () =>
        {
            foreach (Replica each in ring) each.Start();
            foreach (Replica each in ring) each.AwaitReady();
            foreach (Replica each in ring) each.AwaitLine("checkpoint", IsCheckpoint);
            for (int kill = 0; kill < kills; kill++)
            {
                chance.PassTime(PauseMsMax);
                Strike(victims, ring, chance);
                if (chance.Coin()) foreach (Replica each in ring) each.AwaitReady();
            }
            // The first's lanes end only with the test: wherever it was killed, it goes on in the middle of them. Others may have none.
            ring[0].KillCoordinator();
            ring[0].Start();
            foreach (Replica each in ring) each.AwaitReady();
            File.Create(cluster.Until).Dispose();
            AssertVerdict(ring[0]);
            Assert.NotNull(ring[0].Lines.Find(IsContinuation));
            cluster.AssertNoneGaveUp();
        });
    }

    /// <summary>
    /// A secondary of each takes the checkpoints; primaries are killed, and who takes over goes on from images of suspended handlers.
    /// </summary>
    [Fact]
    public void Ring_OfReplicas_AgreesOnImagesAndFailsOver()
    {
        var chance = new Chance();
        using var cluster = new Cluster();
        ReplicaSet[] ring = [.. Enumerable.Range(0, s_names.Length).Select(place => AddSet(cluster, place))];
        cluster.Run(chance.Again(nameof(Ring_OfReplicas_AgreesOnImagesAndFailsOver)), () =>
        {
            foreach (ReplicaSet set in ring) set.Start(2);
            foreach (ReplicaSet set in ring)
                Cluster.Await("checkpoint", () => set.Members.Any(static m => m.Lines.Find(IsCheckpoint) is not null));
            for (int kill = 0; kill < Math.Max(2, TestScale.Rounds(10)); kill++)
            {
                chance.PassTime(2 * PauseMsMax);
                ReplicaSet set = ring[chance.Below(ring.Length)];
                set.Primary().KillCoordinator();
                set.Primary();
                set.StartStopped();
            }
            ring[0].KillAll();
            ring[0].StartStopped();
            ring[0].Primary();
            File.Create(cluster.Until).Dispose();
            string? verdict = null;
            Cluster.Await("verdict",
                () =>
                    (verdict = ring[0].Members.Select(static m => m.Lines.Find(IsVerdict))
                        .FirstOrDefault(static v => v is not null)) is not null);
            Assert.StartsWith("verdict equal: ", verdict);
            foreach (Replica member in ring.SelectMany(static set => set.Members))
            {
                Assert.DoesNotContain(member.Lines.From(0),
                    static line => line.Contains("image at log position", StringComparison.Ordinal));
                Assert.DoesNotContain(member.Lines.From(0), static line => line.StartsWith("exit ", StringComparison.Ordinal));
            }
            Assert.Contains(ring[0].Members, static each => each.Lines.Find(IsContinuation) is not null);
        });
    }

    private static bool IsCheckpoint(string line) => line.StartsWith("checkpoint ckpt.", StringComparison.Ordinal);

    private static bool IsContinuation(string line) => line.StartsWith("Continues ", StringComparison.Ordinal);

    private static bool IsVerdict(string line) => line.StartsWith("verdict ", StringComparison.Ordinal);

    private static void AssertVerdict(Replica driver) =>
        Assert.StartsWith("verdict equal: ", driver.Lines.Await("verdict", IsVerdict, 0, Cluster.Patience));

    private static Replica Add(Cluster cluster, int place)
    {
        Replica replica = cluster.Add(s_names[place], "ring");
        foreach ((string key, string value) in SettingsOf(cluster)) replica.Settings[key] = value;
        replica.Options.AddRange(Options);
        return replica;
    }

    private static ReplicaSet AddSet(Cluster cluster, int place)
    {
        var set = new ReplicaSet(cluster, s_names[place], "ring");
        foreach ((string key, string value) in SettingsOf(cluster)) set.Settings[key] = value;
        set.Options.AddRange(Options);
        return set;
    }

    private static string[] Options => ["--checkpoint-every", "16K", "--checkpoint-bound", "1"];

    private static Dictionary<string, string> SettingsOf(Cluster cluster) => new()
    {
        ["RING"] = string.Join(',', s_names), ["LANES"] = "4", ["HOPS"] = "6", ["UNTIL"] = cluster.Until,
    };

    private static void Strike(Victims victims, Replica[] ring, Chance chance)
    {
        List<Action> blows = [];
        Replica one = ring[chance.Below(ring.Length)];
        if (victims is Victims.OneApp or Victims.OneSide) blows.Add(one.KillApp);
        if (victims is Victims.OneCoordinator or Victims.OneSide) blows.Add(one.KillCoordinator);
        foreach (Replica each in ring)
        {
            if (victims is Victims.Apps or Victims.All && chance.Coin()) blows.Add(each.KillApp);
            if (victims is Victims.Coordinators or Victims.All && chance.Coin()) blows.Add(each.KillCoordinator);
        }
        Action[] order = [.. blows];
        chance.Shuffle<Action>(order);
        foreach (Action blow in order) blow();
        foreach (Replica each in ring)
            if (!each.IsRunning) each.Start();
    }
}
