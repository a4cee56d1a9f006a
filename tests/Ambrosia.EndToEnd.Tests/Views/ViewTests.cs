using System.Diagnostics;
using Ambrosia.Coordinator.Hosting;
using Ambrosia.Protocol;
using Ambrosia.TestKit;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>A view shows what was: the state at a place is the one that the primary had there, and looking changes nothing.</summary>
public sealed class ViewTests
{
    private const int CheckpointsOfARelease = 120, CallsOfARelease = 400_000;

    /// <summary>A pair that was killed now and then, stopped in order, with all its history.</summary>
    private static (Replica Source, Replica Ledger) Killed(Cluster cluster, Chance chance, int calls)
    {
        (Replica source, Replica ledger) = cluster.Pair(calls, burst: 50);
        foreach (Replica replica in new[] { source, ledger })
            replica.Options.AddRange(["--checkpoint-every", "256K", "--retain", "all", "--segment", "2M"]);
        ledger.Start();
        source.Start();
        for (int kill = 0; kill < 2; kill++)
        {
            source.AwaitReady();
            ledger.AwaitReady();
            chance.PassTime(300);
            Replica victim = chance.Coin() ? source : ledger;
            victim.KillCoordinator();
            victim.Start();
        }
        Cluster.AssertEqual(source, calls);
        foreach (Replica replica in new[] { source, ledger })
        {
            Signals.Terminate(replica.Coordinator.Id);
            replica.AwaitExit();
        }
        return (source, ledger);
    }

    [Fact]
    public void State_AtEachCheckpoint_IsTheOneThatWasPublished()
    {
        var chance = new Chance();
        using var cluster = new Cluster();
        cluster.Run(chance.Again(nameof(State_AtEachCheckpoint_IsTheOneThatWasPublished)), () =>
        {
            (Replica source, Replica ledger) = Killed(cluster, chance, TestScale.Rounds(CallsOfARelease));
            int count = 0;
            foreach (Replica replica in new[] { source, ledger })
            {
                (Lsn Lsn, ulong Hash, string Part)[] published = LookedAt.Published(replica.LogDirectory);
                count += published.Length;
                using var forwards = new LookedAt(replica, checkpoint: Lsn.Zero, keepsOutputs: true); // from the log's beginning, over all
                foreach ((Lsn, ulong, string) each in published) AssertIsThere(each, forwards);
                Assert.Empty(forwards.Lines);
                Assert.True(forwards.View.DigestsAgreed > 0);

                // One process, from the checkpoint before or below.
                using var anywhere = new LookedAt(replica, keepsOutputs: true);
                chance.Shuffle<(Lsn, ulong, string)>(published);
                foreach ((Lsn, ulong, string) each in published.Take(8)) AssertIsThere(each, anywhere);
            }
            Assert.True(count >= TestScale.Rounds(CheckpointsOfARelease), $"{count} checkpoints");
        });
    }

    /// <summary>The app and the coordinator stand there as the checkpoint says.</summary>
    private static void AssertIsThere((Lsn Lsn, ulong Hash, string Part) published, LookedAt looked)
    {
        Assert.Equal(published.Hash, looked.HashAt(published.Lsn));
        Assert.Equal(published.Part, looked.PartAt(published.Lsn));
    }

    /// <summary>
    /// A build that makes other calls than were made is told of at each place where that can be seen, and goes on all the same.
    /// </summary>
    [Fact]
    public void Build_ThatMakesOtherCalls_IsToldOfAndGoesOn()
    {
        var chance = new Chance();
        using var cluster = new Cluster();
        cluster.Run(chance.Again(nameof(Build_ThatMakesOtherCalls_IsToldOfAndGoesOn)), () =>
        {
            (Replica source, _) = Killed(cluster, chance, 12_000);
            source.Settings["SKIP_EVERY"] = "10";
            using var looked = new LookedAt(source, checkpoint: Lsn.Zero);
            ViewStop stop = looked.View.To(new MessagePlace(looked.View.End, 0));
            Assert.True(stop.Place.Record > Lsn.Zero);
            Assert.Contains(looked.Lines, static line => line.Contains("does not do what was done", StringComparison.Ordinal));
            Assert.InRange(looked.View.DigestsAgreed, 0, looked.View.Records); // what differs is none of them
        });
    }

    [Fact]
    public void Walks_BackAndForth_HaveOneStateAPlace()
    {
        var chance = new Chance();
        using var cluster = new Cluster();
        cluster.Run(chance.Again(nameof(Walks_BackAndForth_HaveOneStateAPlace)), () =>
        {
            (_, Replica ledger) = Killed(cluster, chance, 2_000);
            using var looked = new LookedAt(ledger, checkpoint: Lsn.Zero);
            var states = new Dictionary<MessagePlace, ulong>();
            MessagePlace first = looked.View.To(new MessagePlace(new Lsn(looked.View.End.Value / 2), 0)).Place;
            ViewStop at = looked.View.To(first);
            uint? process = looked.View.App?.ProcessId;
            for (int walk = TestScale.Rounds(1_000); walk > 0; walk--)
            {
                at = chance.Below(4) == 0 ? looked.View.To(states.Count == 0 ? first : states.Keys.ElementAt(chance.Below(states.Count)))
                    : looked.View.Next();
                using var image = looked.View.Show();
                if (states.TryGetValue(at.Place, out ulong before)) Assert.Equal(before, image.Hash);
                states[at.Place] = image.Hash;
            }
            Assert.True(process > 0);
            Assert.Equal(process, looked.View.App?.ProcessId);
            Assert.True(states.Count > 1 && states.Values.Distinct().Count() > 1, $"{states.Count} places");
            Assert.Empty(looked.Lines);
        });
    }
}
