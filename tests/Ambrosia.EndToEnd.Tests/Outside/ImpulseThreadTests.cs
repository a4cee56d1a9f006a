using Ambrosia.Client;
using Ambrosia.EndToEnd.App;
using Ambrosia.TestKit;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>
/// Threads of two immortals' processes hammer their own immortal and the other one with impulses, with and without keys, while both are
/// killed at random moments, 100 times in a release's campaign. Each took effect at most once, and once if it was acknowledged or is sent
/// under its key until it is.
/// </summary>
public sealed class ImpulseThreadTests(ITestOutputHelper output)
{
    private const int KillsOfARelease = 100, KillsMin = 6, Senders = 8, PauseMsMax = 300, MessagesMin = 200;

    public enum Victims { Coordinator, Any }

    /// <summary>What the sender of one impulse was told.</summary>
    private sealed record Told(string Id, bool IsKeyed, string Outcome);

    [Theory]
    [InlineData(Victims.Coordinator)]
    [InlineData(Victims.Any)]
    public async Task Threads_ProcessesKilledAtRandomMoments_WereToldTheTruth(Victims victims)
    {
        var chance = new Chance();
        int kills = Math.Max(KillsMin, TestScale.Rounds(KillsOfARelease));
        using var cluster = new Cluster();
        Replica[] pokers = Pair(cluster);
        await cluster.RunAsync(chance.Again($"Threads_Processes&DisplayName~{victims}"), async () =>
        {
            foreach (Replica each in pokers) each.Start();
            foreach (Replica each in pokers) each.AwaitReady();
            for (int kill = 0; kill < kills; kill++)
            {
                chance.PassTime(PauseMsMax);
                Replica dying = pokers[chance.Below(pokers.Length)];
                if (victims == Victims.Any && chance.Coin()) dying.KillApp();
                else
                {
                    dying.KillCoordinator();
                    dying.Start();
                }
                if (chance.Coin()) dying.AwaitReady(); // else the next blow may fall into the recovery
            }
            Told[] told = await Finish(cluster, pokers);
            output.WriteLine(
                $"{kills} kills, seed {chance.Seed}: {told.Length} impulses, {string.Join(", ", told.CountBy(static each => (each.IsKeyed ? "keyed " : "") + each.Outcome).Select(static each => $"{each.Value} {each.Key}"))}");
            Assert.Null(WhatIsWrong(told, await TimesOf(cluster, told)));
            cluster.AssertNoneGaveUp();
        });
    }

    /// <summary>Negative control: senders that repeat what has a key under another key are found out.</summary>
    [Fact]
    public async Task Threads_NewKeyAtEachTry_AreFoundOut()
    {
        using var cluster = new Cluster();
        Replica[] pokers = Pair(cluster);
        await cluster.RunAsync(Cluster.Again(nameof(Threads_NewKeyAtEachTry_AreFoundOut)), async () =>
        {
            foreach (Replica each in pokers)
            {
                each.Settings["REPEAT"] = "1";
                each.Start();
            }
            Told[] told = await Finish(cluster, pokers);
            Assert.Contains("took effect 2 times", WhatIsWrong(told, await TimesOf(cluster, told)), StringComparison.Ordinal);
        });
    }

    /// <summary>Negative control of the oracle.</summary>
    [Theory]
    [InlineData("acknowledged", false, 1, null)]
    [InlineData("acknowledged", false, 0, "took effect 0 times")]
    [InlineData("acknowledged", true, 2, "took effect 2 times")]
    [InlineData("unknown", false, 0, null)]
    [InlineData("unknown", false, 1, null)]
    [InlineData("unknown", false, 2, "took effect 2 times")]
    [InlineData("refused", false, 1, "took effect 1 times")]
    [InlineData("unknown", true, 1, "was never acknowledged")]
    public void WhatIsWrong_OfOneImpulse_SaysIt(string outcome, bool isKeyed, int times, string? wrong)
    {
        string? found = WhatIsWrong([new Told("a", isKeyed, outcome)], [times]);
        if (wrong is null) Assert.Null(found);
        else Assert.Contains(wrong, found, StringComparison.Ordinal);
    }

    private static Replica[] Pair(Cluster cluster)
    {
        string spool = Directory.CreateDirectory(Path.Combine(cluster.Root, "spool")).FullName;
        string[] names = ["left", "right"];
        Replica[] pair = [.. names.Select(name => cluster.Add(name, "poker"))];
        for (int i = 0; i < pair.Length; i++)
        {
            pair[i].Settings["PEER"] = names[1 - i];
            pair[i].Settings["SENDERS"] = $"{Senders}";
            pair[i].Settings["SPOOL"] = spool;
            pair[i].Settings["UNTIL"] = cluster.Until;
            pair[i].Options.AddRange(["--checkpoint-every", "2M"]);
        }
        return pair;
    }

    /// <summary>Lets the senders of the last processes send some more and end, and reads what all were told.</summary>
    private static async Task<Told[]> Finish(Cluster cluster, Replica[] pokers)
    {
        foreach (Replica each in pokers) each.AwaitReady();
        int before = Spooled(cluster).Length;
        await Task.Run(() => Cluster.Await("impulses behind the last kill", () => Spooled(cluster).Length >= before + MessagesMin));
        File.Create(cluster.Until).Dispose();
        foreach (Replica each in pokers)
            Cluster.Await("its senders have ended",
                () => each.Lines.From(each.StartedAt).Count(static line => line.StartsWith("ended ", StringComparison.Ordinal)) == Senders);
        return Spooled(cluster);
    }

    /// <summary>One for each id: of one that was sent several times, with its key, the last word.</summary>
    private static Told[] Spooled(Cluster cluster)
    {
        var told = new Dictionary<string, Told>();
        foreach (string path in Directory.EnumerateFiles(Path.Combine(cluster.Root, "spool")))
        {
            string id = "";
            foreach (string line in File.ReadLines(path))
            {
                if (line.StartsWith("id ", StringComparison.Ordinal))
                    told[id = line[3..]] = new Told(id, path.EndsWith(".keyed", StringComparison.Ordinal), "unknown");
                else told[id] = told[id] with { Outcome = line };
            }
        }
        return [.. told.Values];
    }

    /// <summary>The oracle: null if what was told fits what happened.</summary>
    private static string? WhatIsWrong(Told[] told, int[] times)
    {
        for (int n = 0; n < told.Length; n++)
        {
            if (told[n].IsKeyed && told[n].Outcome != "acknowledged") return $"{told[n]} was never acknowledged";
            bool isRight = told[n].Outcome switch { "acknowledged" => times[n] == 1, "refused" => times[n] == 0, _ => times[n] <= 1 };
            if (!isRight) return $"{told[n]} took effect {times[n]} times";
        }
        return null;
    }

    /// <summary>Of both immortals together: whose an impulse was does not matter here.</summary>
    private static async Task<int[]> TimesOf(Cluster cluster, Told[] told)
    {
        int[] times = new int[told.Length];
        foreach (string name in (string[])["left", "right"])
        {
            await using ImmortalClient client = await cluster.ConnectAsync(name);
            ClientProxy<IPoker> poker = client.GetProxy<IPoker>();
            int at = 0;
            foreach (Told[] part in told.Chunk(10_000))
                foreach (int each in await poker.TimesOfAsync([.. part.Select(static each => each.Id)]).WaitAsync(Cluster.Patience))
                    times[at++] += each;
        }
        return times;
    }
}
