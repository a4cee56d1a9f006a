using System.Collections.Concurrent;
using Ambrosia.Client;
using Ambrosia.EndToEnd.App;
using Ambrosia.TestKit;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>
/// Callers outside hammer an immortal while it is killed at random moments, 100 times in a release's campaign. What they were told is true:
/// nothing took effect twice; what was acknowledged, or had a key, took effect once; and whoever asks again with a
/// key gets the same answer.
/// </summary>
public sealed class HammerTests(ITestOutputHelper output)
{
    private const int KillsOfARelease = 100, KillsMin = 5, Hammers = 8, PauseMsMax = 300, MessagesMin = 100;

    public enum Victims { App, Coordinator, Any }

    private enum Sort { Request, LaterRequest, Impulse, KeyedRequest, KeyedLaterRequest, KeyedImpulse }

    /// <summary>What one message's sender was told.</summary>
    /// <param name="Answer">0: none.</param>
    private sealed record Told(string Id, Sort Sort, bool IsKnown, long Answer);

    [Theory]
    [InlineData(Victims.App)]
    [InlineData(Victims.Coordinator)]
    [InlineData(Victims.Any)]
    public async Task Callers_InstanceKilledAtRandomMoments_WereToldTheTruth(Victims victims)
    {
        var chance = new Chance();
        int kills = Math.Max(KillsMin, TestScale.Rounds(KillsOfARelease));
        if (victims == Victims.App) kills = Math.Max(KillsMin, kills / 10); // its coordinator starts it ever later, up to 5 s
        using var cluster = new Cluster();
        Replica bank = cluster.Add("bank", "bank");
        bank.Options.AddRange(["--checkpoint-every", "256K"]);
        await cluster.RunAsync(chance.Again(victims.ToString()), async () =>
        {
            bank.Start();
            await using ImmortalClient client = await Connect(cluster), second = await Connect(cluster);
            ClientProxy<IBank> proxy = client.GetProxy<IBank>(), other = second.GetProxy<IBank>();
            var told = new ConcurrentBag<Told>();
            using var enough = new CancellationTokenSource();
            Task[] hammers = [
                .. Enumerable.Range(0, Hammers)
                    .Select(n => Task.Run(() => Hammer(n % 2 == 0 ? proxy : other, $"{n}", chance.Below(1 << 30), told, enough.Token)))];
            for (int kill = 0; kill < kills; kill++)
            {
                chance.PassTime(PauseMsMax);
                if (victims == Victims.App || (victims == Victims.Any && chance.Coin())) bank.KillApp();
                else
                {
                    bank.KillCoordinator();
                    bank.Start();
                }
                if (chance.Coin()) bank.AwaitReady(); // else the next blow may fall into the recovery
            }
            bank.AwaitReady();
            int before = told.Count;
            Cluster.Await("messages behind the last kill", () => told.Count >= before + MessagesMin);
            await enough.CancelAsync();
            await Task.WhenAll(hammers).WaitAsync(Cluster.Patience);
            await Judge([.. told], other, proxy);
            cluster.AssertNoneGaveUp();
        });
    }

    private static Task<ImmortalClient> Connect(Cluster cluster) =>
        ImmortalClient.ConnectAsync(cluster.Catalog, "bank", new ClientOptions { ConnectWithin = Cluster.Patience, RequestsMax = 64 });

    private static async Task Hammer(ClientProxy<IBank> bank, string name, int seed, ConcurrentBag<Told> told, CancellationToken enough)
    {
        var random = new Random(seed);
        for (int n = 0; !enough.IsCancellationRequested; n++)
        {
            var sort = (Sort)random.Next(6);
            string id = $"{name}-{n}";
            try
            {
                told.Add(new Told(id, sort, true, await Send(bank, sort, id)));
            }
            catch (OutcomeUnknownException)
            {
                told.Add(new Told(id, sort, false, 0));
            }
        }
    }

    private static async Task<long> Send(ClientProxy<IBank> bank, Sort sort, string id)
    {
        switch (sort)
        {
            case Sort.Request: return await bank.DepositAsync(id);
            case Sort.LaterRequest: return await bank.DepositLaterAsync(id);
            case Sort.KeyedRequest: return await bank.WithKey(id).DepositAsync(id);
            case Sort.KeyedLaterRequest: return await bank.WithKey(id).DepositLaterAsync(id);
            case Sort.KeyedImpulse: await bank.WithKey(id).NoteLogged(id); return 0;
            default: await bank.NoteLogged(id); return 0;
        }
    }

    private async Task Judge(Told[] told, ClientProxy<IBank> bank, ClientProxy<IBank> other)
    {
        int unknown = told.Count(static each => !each.IsKnown);
        output.WriteLine($"{told.Length} messages, {unknown} of unknown outcome");
        Assert.All(told, static each => Assert.True(each.IsKnown || each.Sort <= Sort.Impulse, $"{each} has a key"));
        int[] times = await TimesOf(bank, told);
        Assert.Null(WhatIsWrong(told, times));
        foreach (Told each in told.Where(static each => each.Sort >= Sort.KeyedRequest).Take(2000))
            Assert.Equal(each.Answer, await Send(other, each.Sort, each.Id).WaitAsync(Cluster.Patience));
        Assert.Equal(times, await TimesOf(bank, told));
    }

    /// <summary>The oracle: null if what was told fits what happened.</summary>
    private static string? WhatIsWrong(Told[] told, int[] times)
    {
        for (int n = 0; n < told.Length; n++)
            if (times[n] != 1 && (times[n] != 0 || told[n].IsKnown)) return $"{told[n]} took effect {times[n]} times";
        return told.Where(static each => each.Answer > 0).GroupBy(static each => each.Answer)
            .FirstOrDefault(static each => each.Count() > 1) is { } shared
            ? $"the answer {shared.Key} was given to {string.Join(" and ", shared)}" : null;
    }

    /// <summary>
    /// Negative control: the oracle finds what took effect twice, what was acknowledged and lost, and one answer for two.
    /// </summary>
    [Fact]
    public void WhatIsWrong_PlantedFaults_AreFound()
    {
        Told known = new("a", Sort.Request, true, 1), unknown = new("b", Sort.Request, false, 0), other = new("c", Sort.Request, true, 1);
        Assert.Null(WhatIsWrong([known, unknown], [1, 0]));
        Assert.Null(WhatIsWrong([known, unknown], [1, 1]));
        Assert.Contains("2 times", WhatIsWrong([known, unknown], [1, 2]), StringComparison.Ordinal);
        Assert.Contains("0 times", WhatIsWrong([known], [0]), StringComparison.Ordinal);
        Assert.Contains("was given to", WhatIsWrong([known, other], [1, 1]), StringComparison.Ordinal);
    }

    /// <summary>Negative control with a real instance: a caller that gives each try a key of its own is found out.</summary>
    [Fact]
    public async Task Callers_NewKeyAtEachTry_AreFoundOut()
    {
        using var cluster = new Cluster();
        cluster.Add("bank", "bank").Start();
        await using ImmortalClient client = await Connect(cluster);
        ClientProxy<IBank> bank = client.GetProxy<IBank>();
        long answer = await bank.WithKey("first try").DepositAsync("a").WaitAsync(Cluster.Patience);
        await bank.WithKey("second try").DepositAsync("a").WaitAsync(Cluster.Patience);
        Told[] told = [new("a", Sort.KeyedRequest, true, answer)];
        Assert.Contains("2 times", WhatIsWrong(told, await TimesOf(bank, told)), StringComparison.Ordinal);
        cluster.Passed();
    }

    private static async Task<int[]> TimesOf(ClientProxy<IBank> bank, Told[] told)
    {
        var times = new List<int>();
        foreach (Told[] part in told.Chunk(10_000))
            times.AddRange(await bank.TimesOfAsync([.. part.Select(static each => each.Id)]).WaitAsync(Cluster.Patience));
        return [.. times];
    }
}
