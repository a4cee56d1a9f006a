using Ambrosia.TestKit;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>Kills at random moments: whoever dies, however often, the ledger has each call once and in order.</summary>
public sealed class KillTests(ITestOutputHelper output)
{
    private const int KillsOfARelease = 10, KillsMin = 2, CallsOfARelease = 100_000, TappedCallsOfARelease = 10_000;
    private const int PauseMsMax = 400;

    public enum Victims { SourceApp, SourceCoordinator, LedgerApp, LedgerCoordinator, SourceSide, LedgerSide, AllFour }

    [Theory]
    [InlineData(Victims.SourceApp)]
    [InlineData(Victims.SourceApp, true)]
    [InlineData(Victims.SourceCoordinator)]
    [InlineData(Victims.LedgerApp)]
    [InlineData(Victims.LedgerApp, true)]
    [InlineData(Victims.LedgerCoordinator)]
    [InlineData(Victims.SourceSide)]
    [InlineData(Victims.LedgerSide)]
    [InlineData(Victims.AllFour)]
    [InlineData(Victims.AllFour, true)]
    public void Instances_KilledAtRandomMoments_AgreeOnEveryCall(Victims victims, bool overRings = false)
    {
        var chance = new Chance();
        using var cluster = new Cluster();
        KillAtRandomMoments(cluster, victims, chance, TestScale.Rounds(CallsOfARelease), overRings ? ["--app-rings"] : []);
    }

    /// <summary>
    /// The tap of the conformance kit stands between each coordinator and its app, and judges every frame that either says. At a commit one
    /// side is killed, which one by the seed; a release goes through all.
    /// </summary>
    [PythonFact]
    public void Instances_KilledUnderTheTap_BreakNoSentence()
    {
        var chance = new Chance();
        Victims[] all = Enum.GetValues<Victims>();
        chance.Shuffle<Victims>(all);
        foreach (Victims victims in all.Take(TestScale.Rounds(all.Length)))
        {
            using var cluster = new Cluster();
            string report = Path.Combine(cluster.Root, "tap.json");
            KillAtRandomMoments(cluster, victims, chance, TestScale.Rounds(TappedCallsOfARelease), [],
                "python3", Tap, "--report", report, "--");
            Assert.False(File.Exists(report), File.Exists(report) ? $"{victims}: {File.ReadAllText(report)}" : "");
        }
    }

    /// <summary>In the tree that these tests were built from.</summary>
    private static string Tap { get; } = Path.Combine(
        AppContext.BaseDirectory[..AppContext.BaseDirectory.IndexOf(
            Path.Combine("tests", "Ambrosia.EndToEnd.Tests"), StringComparison.Ordinal)],
        "protocol", "conformance", "tap");

    private void KillAtRandomMoments(
        Cluster cluster, Victims victims, Chance chance, int calls, string[] options, params string[] appWrapper)
    {
        int kills = Math.Max(KillsMin, TestScale.Rounds(KillsOfARelease));
        output.WriteLine($"{kills} kills of {victims} {string.Join(' ', options)}, seed {chance.Seed}");
        (Replica source, Replica ledger) = cluster.Pair(calls, burst: 50);
        source.Settings["UNTIL"] = cluster.Until;
        foreach (Replica replica in new[] { source, ledger })
        {
            replica.AppWrapper = appWrapper;
            replica.Options.AddRange(["--checkpoint-every", "1M", .. options]);
        }

        cluster.Run(chance.Again(appWrapper.Length > 0 ? nameof(Instances_KilledUnderTheTap_BreakNoSentence) : victims.ToString()), () =>
        {
            ledger.Start();
            source.Start();
            AwaitAllReady(source, ledger);
            if (appWrapper.Length > 0)
            {
                Cluster.Await("the source has an app", () => source.AppId is not null);
                Assert.Contains(Tap, CommandOfParent(source.AppId!.Value), StringComparison.Ordinal);
            }

            for (int kill = 0; kill < kills; kill++)
            {
                chance.PassTime(PauseMsMax);
                Strike(victims, source, ledger, chance);
                if (chance.Coin()) AwaitAllReady(source, ledger); // else the next blow may fall into the recovery
            }
            AwaitAllReady(source, ledger);
            File.Create(cluster.Until).Dispose();
            Cluster.AssertEqual(source, calls);
            cluster.AssertNoneGaveUp();
        });
    }

    private static string CommandOfParent(int process)
    {
        string stat = File.ReadAllText($"/proc/{process}/stat");
        string parent = stat[(stat.LastIndexOf(')') + 1)..].Split(' ', StringSplitOptions.RemoveEmptyEntries)[1];
        return File.ReadAllText($"/proc/{parent}/cmdline");
    }

    private static void Strike(Victims victims, Replica source, Replica ledger, Chance chance)
    {
        List<Action> blows = [];
        if (victims is Victims.SourceApp or Victims.SourceSide or Victims.AllFour) blows.Add(source.KillApp);
        if (victims is Victims.SourceCoordinator or Victims.SourceSide or Victims.AllFour) blows.Add(source.KillCoordinator);
        if (victims is Victims.LedgerApp or Victims.LedgerSide or Victims.AllFour) blows.Add(ledger.KillApp);
        if (victims is Victims.LedgerCoordinator or Victims.LedgerSide or Victims.AllFour) blows.Add(ledger.KillCoordinator);
        Action[] order = [.. blows];
        chance.Shuffle<Action>(order);
        foreach (Action blow in order) blow();
        foreach (Replica replica in new[] { source, ledger })
            if (!replica.IsRunning) replica.Start();
    }

    private static void AwaitAllReady(Replica source, Replica ledger)
    {
        source.AwaitReady();
        ledger.AwaitReady();
    }

    /// <summary>Negative control: a ledger that forgets one call is found out.</summary>
    [Fact]
    public void Instances_LedgerForgetsOneCall_Disagree()
    {
        using var cluster = new Cluster();
        (Replica source, Replica ledger) = cluster.Pair(calls: 200);
        ledger.Settings["FORGET"] = "123";
        ledger.Start();
        source.Start();
        Assert.StartsWith("verdict different: ",
            source.AwaitLine("verdict", static line => line.StartsWith("verdict ", StringComparison.Ordinal)));
        cluster.Passed();
    }
}
