using Ambrosia.Log.Checkpoints;
using Ambrosia.Log.Files;
using Ambrosia.TestKit;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>
/// Two replicas are killed together and started with another build, and then with the first one again, on and on: each other build ends
/// with 70, and the first one always goes on. Checkpoints are made all the time, by either replica.
/// </summary>
public sealed class TwoBuildsTests(ITestOutputHelper output) : ReplicaTests
{
    private const int Divergence = 70, KillsOfARelease = 500, KillsMin = 8, PauseMsMax = 700;

    /// <summary>
    /// Where so much of the log is behind the newest checkpoint, the ledger has calls that the other build makes otherwise. A burst takes
    /// less than 1 KiB.
    /// </summary>
    private const ulong JudgedBytes = 16 << 10;

    /// <summary>What a build does otherwise; nothing of it stands in the state, which a checkpoint would put right.</summary>
    private static readonly (string Setting, string Value)[] s_others =
        [("SKIP_EVERY", "7"), ("SKIP_EVERY", "50"), ("MISCOUNT_EVERY", "7"), ("MISCOUNT_EVERY", "50")];

    [Fact]
    public void OtherBuild_InThePlaceOfTheFirst_EndsAndTheFirstGoesOn()
    {
        var chance = new Chance();
        int kills = Math.Max(KillsMin, TestScale.Rounds(TestScale.Rounds(KillsOfARelease))), judged = 0;
        output.WriteLine($"{kills} kills, seed {chance.Seed}");
        using var cluster = new Cluster();
        (ReplicaSet source, ReplicaSet ledger) = Pair(cluster, "--checkpoint-every", "64K", "--checkpoint-interval", "1s");
        cluster.Run(chance.Again(nameof(OtherBuild_InThePlaceOfTheFirst_EndsAndTheFirstGoesOn)), () =>
        {
            ledger.Start(1);
            source.Start(2);
            for (int kill = 0; kill < kills; kill++)
            {
                chance.PassTime(PauseMsMax);
                ulong durable = 0;
                Cluster.Await("the log goes on behind the newest checkpoint",
                    () => (durable = Durable(source.Primary())) > Newest(source) + JudgedBytes);
                source.KillAll();
                if (chance.Below(4) == 0) ledger.KillAll();
                ledger.StartStopped();
                // A checkpoint may have come meanwhile; then there may be nothing to tell the builds by.
                if (durable > Newest(source) + JudgedBytes)
                {
                    judged++;
                    AssertEnds(source, s_others[chance.Below(s_others.Length)]);
                }
                source.StartStopped();
                source.Primary().AwaitRecords($"of the first build again, behind kill {kill}");
            }
            output.WriteLine($"{judged} other builds ended");
            Assert.True(judged > kills / 2, $"{judged} of {kills} kills had something to tell the builds by");
            Finish(cluster, source);
        });
    }

    private static void AssertEnds(ReplicaSet source, (string Setting, string Value) other)
    {
        foreach (Replica member in source.Members)
        {
            string before = member.Settings.GetValueOrDefault(other.Setting, "");
            member.Settings[other.Setting] = other.Value;
            member.Start();
            member.Settings[other.Setting] = before;
        }
        foreach (Replica member in source.Members)
        {
            int code = member.AwaitExit();
            Assert.True(code == Divergence, $"{other}: {member.Name} ended with {code}");
        }
    }

    /// <summary>The end of what is durable; 0: it does not answer at the moment.</summary>
    private static ulong Durable(Replica primary) => (ulong?)primary.Status(primary.Options[1])?["log"]?["durable"] ?? 0;

    /// <summary>The place of the newest checkpoint; 0: there is none.</summary>
    private static ulong Newest(ReplicaSet source) =>
        CheckpointDirectory.List(new PosixFileSystem(), source.Members[0].LogDirectory).FirstOrDefault()?.Lsn.Value ?? 0;
}
