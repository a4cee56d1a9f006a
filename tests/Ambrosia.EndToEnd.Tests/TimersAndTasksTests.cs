using Ambrosia.TestKit;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>
/// Timers and tasks of processes that are killed: every result once, in the order of the log, on every replica the same state; bodies run
/// in primaries alone. Checkpoints come so often that most of them hold suspended handlers, timers and tasks.
/// </summary>
public sealed class TimersAndTasksTests(ITestOutputHelper output)
{
    private const int KillsOfARelease = 30, KillsMin = 3, Results = 300;
    private const int PauseMsMax = 400;

    private static int Kills => Math.Max(KillsMin, TestScale.Rounds(KillsOfARelease));

    [Theory]
    [InlineData(true, false)]
    [InlineData(false, true)]
    [InlineData(true, true)]
    public void Steward_KilledAtRandomMoments_HasEveryResultOnceInOrder(bool app, bool coordinator)
    {
        var chance = new Chance();
        using var cluster = new Cluster();
        (Replica steward, Replica ledger) = cluster.Pair(Results, role: "steward");
        steward.Settings["UNTIL"] = cluster.Until;
        steward.Options.AddRange(["--checkpoint-every", "32K", "--checkpoint-bound", "1K"]);
        cluster.Run(chance.Again($"{nameof(TimersAndTasksTests)}&DisplayName~app: {app}"), () =>
        {
            ledger.Start();
            steward.Start();
            steward.AwaitReady();
            for (int kill = 0; kill < Kills; kill++)
            {
                chance.PassTime(PauseMsMax);
                if (app) steward.KillApp();
                if (coordinator && (!app || chance.Coin())) steward.KillCoordinator();
                if (!steward.IsRunning) steward.Start();
                if (chance.Coin()) steward.AwaitReady(); // else the next blow may fall into the recovery
            }
            steward.AwaitReady();
            File.Create(cluster.Until).Dispose();
            Cluster.AssertEqual(steward, Results);
            cluster.AssertNoneGaveUp();
            Cluster.Await("a checkpoint was taken",
                () => steward.Lines.Find(static line => line.Contains("checkpoint ckpt", StringComparison.Ordinal)) is not null);
            output.WriteLine($"{Kills} kills, seed {chance.Seed}: {Verdict(steward)}");
        });
    }

    [Fact]
    public void Stewards_PrimaryKilledAgainAndAgain_StandbyGoesOnWithTimersAndTasks()
    {
        var chance = new Chance();
        using var cluster = new Cluster();
        cluster.Run(chance.Again(nameof(Stewards_PrimaryKilledAgainAndAgain_StandbyGoesOnWithTimersAndTasks)), () =>
        {
            ReplicaSet stewards = new(cluster, "source", "steward"), ledger = new(cluster, "ledger", "ledger");
            stewards.Settings["CALLS"] = $"{Results}";
            stewards.Settings["UNTIL"] = cluster.Until;
            stewards.Options.AddRange(["--checkpoint-every", "32K", "--checkpoint-bound", "1K"]);
            ledger.Start(1);
            stewards.Start(2);
            for (int kill = 0; kill < Math.Max(KillsMin, Kills / 3); kill++)
            {
                Replica standby = stewards.Standby();
                ReplicaSet.AwaitCaughtUp(standby);
                chance.PassTime(PauseMsMax);
                // I10, of the app that runs: lines of one that was killed may come behind the next one's start.
                Assert.NotNull(standby.AppId);
                Assert.Null(standby.Lines.Find(line => IsBodyOf(standby.AppId, line)));
                stewards.Primary().KillCoordinator();
                standby.AwaitReady();
                stewards.StartStopped();
            }
            ReplicaSet.AwaitCaughtUp(stewards.Standby());
            File.Create(cluster.Until).Dispose();
            string? verdict = null;
            Cluster.Await("verdict",
                () => (verdict = stewards.Members.Select(Verdict).FirstOrDefault(static v => v is not null)) is not null);
            Assert.StartsWith("verdict equal: expected ", verdict);
            cluster.AssertNoneGaveUp();
            output.WriteLine($"seed {chance.Seed}: {verdict}");
        });
    }

    /// <summary>Negative control: a result that takes effect twice is found.</summary>
    [Fact]
    public void Steward_WhoseBodiesRepeatThemselves_Disagrees()
    {
        using var cluster = new Cluster();
        (Replica steward, Replica ledger) = cluster.Pair(100, role: "steward");
        steward.Settings["REPEAT"] = "1";
        ledger.Start();
        steward.Start();
        Assert.StartsWith("verdict different: ",
            steward.AwaitLine("verdict", static line => line.StartsWith("verdict ", StringComparison.Ordinal)));
        cluster.Passed();
    }

    private static bool IsBodyOf(int? process, string line) =>
        line.StartsWith("body ", StringComparison.Ordinal) && line.Contains($" {process}-", StringComparison.Ordinal);

    private static string? Verdict(Replica steward) =>
        steward.Lines.Find(static line => line.StartsWith("verdict ", StringComparison.Ordinal));
}
