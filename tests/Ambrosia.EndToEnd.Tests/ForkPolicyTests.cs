using Ambrosia.Client;
using Ambrosia.EndToEnd.App;
using Ambrosia.TestKit;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>Handlers that throw, under each fork policy, with real processes that are killed.</summary>
public sealed class ForkPolicyTests
{
    private const int PoisonEvery = 50, KillsOfARelease = 20;

    /// <summary>The app ends at the message, again and again, until its coordinator is started with another policy.</summary>
    [Fact]
    public void Stop_HandlerThrows_AppEndsThereUntilThePolicyIsAnother()
    {
        using var cluster = new Cluster();
        (Replica source, Replica ledger) = cluster.Pair(calls: 300);
        ledger.Settings["THROW"] = "100";
        ledger.Options.AddRange(["--fork-policy", "stop"]);
        cluster.Run(Cluster.Again(nameof(Stop_HandlerThrows_AppEndsThereUntilThePolicyIsAnother)), () =>
        {
            ledger.Start();
            source.Start();
            string place = AwaitStop(ledger);
            ledger.AwaitLine("exit code of the app", static line => line.StartsWith("app ended with code 1 ", StringComparison.Ordinal));
            ledger.KillCoordinator();
            ledger.Start();
            Assert.Equal(place, AwaitStop(ledger));
            ledger.KillCoordinator();

            ledger.Options[^1] = "continue";
            ledger.Start();
            Cluster.AssertEqual(source, 300);
            cluster.AssertNoneGaveUp();
        });
    }

    /// <summary>
    /// It was logged before its handler ran, so its sender has been told that it counts. From there on nothing is executed, whoever starts:
    /// callers wait, and are answered under another policy.
    /// </summary>
    [Fact]
    public async Task Stop_ImpulseFromOutsideThrows_CallersWaitUntilThePolicyIsAnother()
    {
        using var cluster = new Cluster();
        Replica bank = cluster.Add("bank", "bank");
        bank.Options.AddRange(["--fork-policy", "stop"]);
        await cluster.RunAsync(Cluster.Again(nameof(Stop_ImpulseFromOutsideThrows_CallersWaitUntilThePolicyIsAnother)), async () =>
        {
            bank.Start();
            await using ImmortalClient client = await cluster.ConnectAsync("bank");
            ClientProxy<IBank> proxy = client.GetProxy<IBank>();
            Assert.Equal(1, await proxy.DepositAsync("before").WaitAsync(Cluster.Patience));
            await proxy.WithKey("k").TripLogged("trip").WaitAsync(Cluster.Patience);
            string place = AwaitStop(bank, "Bank.Trip");
            Task<long> behind = proxy.WithKey("b").DepositAsync("behind");
            for (int start = 0; start < 2; start++)
            {
                bank.KillCoordinator();
                bank.Start();
                Assert.Equal(place, AwaitStop(bank, "Bank.Trip"));
                Assert.False(behind.IsCompleted);
            }
            bank.KillCoordinator();

            bank.Options[^1] = "continue";
            bank.Start();
            Assert.Equal(3, await behind.WaitAsync(Cluster.Patience)); // behind what the impulse had done before it threw
            await proxy.WithKey("k").TripLogged("trip").WaitAsync(Cluster.Patience); // the key was used
            int[] times = await proxy.TimesOfAsync(["before", "trip", "behind"]).WaitAsync(Cluster.Patience);
            Assert.Equal([1, 1, 1], times);
            cluster.AssertNoneGaveUp();
        });
    }

    private static string AwaitStop(Replica replica, string handler = "Ledger.Put") =>
        replica.AwaitLine("the stop",
            line => line.Contains($"{handler} threw at message ", StringComparison.Ordinal)
                && line.Contains("the fork policy is to stop", StringComparison.Ordinal))
            .Split("at message ")[1].Split(' ')[0];

    [Theory]
    [InlineData("continue")]
    [InlineData("quarantine")]
    public void Policy_HandlersThrowUnderKills_LosesNoCallAndSetsAsideOnce(string policy)
    {
        var chance = new Chance();
        using var cluster = new Cluster();
        (Replica source, Replica ledger) = cluster.Pair(calls: 2_000, burst: 10);
        source.Settings["UNTIL"] = cluster.Until;
        ledger.Settings["THROW"] = $"{PoisonEvery}";
        ledger.Options.AddRange(["--fork-policy", policy, "--checkpoint-every", "64K"]);
        cluster.Run(chance.Again(policy), () =>
        {
            ledger.Start();
            source.Start();
            for (int kill = Math.Max(4, TestScale.Rounds(KillsOfARelease)); kill > 0; kill--)
            {
                chance.PassTime(200);
                if (chance.Coin()) ledger.KillApp();
                else
                {
                    ledger.KillCoordinator();
                    ledger.Start();
                }
                if (chance.Coin()) ledger.AwaitReady();
            }
            File.Create(cluster.Until).Dispose();
            Cluster.AssertEqual(source, 2_000);
            cluster.AssertNoneGaveUp();
            long made = long.Parse(
                source.Lines.FindLast(static line => line.StartsWith("verdict ", StringComparison.Ordinal))!.Split(' ')[3]);
            string[] places = Places(ledger);
            Assert.Equal(policy == "quarantine" ? Math.Min(made, 10_000) / PoisonEvery : 0, places.Length);
            if (places.Length > 0) AssertDecisionsHold(ledger, places);
        });
    }

    /// <summary>One is tried again, one is dropped, and it stays so when everything is killed.</summary>
    private static void AssertDecisionsHold(Replica ledger, string[] places)
    {
        Assert.Equal("retried",
            Tool.Run("quarantine", "retry", ledger.LogDirectory, places[0], "--json").Json.GetProperty("outcome").GetString());
        ledger.AwaitLine("the second try", static line => line == $"tried again {PoisonEvery}");
        Assert.Equal("dropped",
            Tool.Run("quarantine", "drop", ledger.LogDirectory, places[1], "--json").Json.GetProperty("outcome").GetString());
        Tool again = Tool.Run("quarantine", "retry", ledger.LogDirectory, places[0], "--json");
        Assert.Equal(2, again.Code);
        Assert.Contains($"there is no message {places[0]} in quarantine", again.JsonError.GetProperty("why").GetString());
        Assert.Equal(places[2..], Places(ledger));
        ledger.KillCoordinator();
        ledger.Start();
        ledger.AwaitReady();
        Assert.Equal(places[2..], Places(ledger));
    }

    /// <summary>
    /// Impulses of callers outside, with and without a key: what is set aside is so on every replica, whoever is primary; a key stays used.
    /// </summary>
    [Fact]
    public async Task Quarantine_OfImpulsesFromOutside_SurvivesFailovers()
    {
        using var cluster = new Cluster();
        ReplicaSet set = new(cluster, "bank", "bank");
        set.Options.AddRange(["--fork-policy", "quarantine"]);
        await cluster.RunAsync(Cluster.Again(nameof(Quarantine_OfImpulsesFromOutside_SurvivesFailovers)), async () =>
        {
            set.Start(2);
            await using ImmortalClient client = await cluster.ConnectAsync("bank");
            ClientProxy<IBank> bank = client.GetProxy<IBank>();
            await bank.WithKey("k").TripLogged("keyed").WaitAsync(Cluster.Patience);
            await bank.TripLogged("plain").WaitAsync(Cluster.Patience);
            await bank.WithKey("k").TripLogged("keyed").WaitAsync(Cluster.Patience);
            Assert.Equal("1 1", await Times());
            string[] places = Places(set.Primary());
            Assert.Equal(2, places.Length);

            Replace();
            Assert.Equal(places, Places(set.Primary()));
            Assert.Equal(0, Tool.Run("quarantine", "retry", set.Primary().LogDirectory, places[0]).Code);
            Assert.Equal(0, Tool.Run("quarantine", "drop", set.Primary().LogDirectory, places[1]).Code);
            await bank.WithKey("k").TripLogged("keyed").WaitAsync(Cluster.Patience);
            Assert.Equal("2 1", await Times());

            Replace();
            Assert.Empty(Places(set.Primary()));
            Assert.Equal("2 1", await Times());
            Assert.DoesNotContain(set.Members,
                static member => member.Lines.Find(static line => line.StartsWith("exit ", StringComparison.Ordinal)) is not null);

            async Task<string> Times() => string.Join(' ', await bank.TimesOfAsync(["keyed", "plain"]).WaitAsync(Cluster.Patience));
        });

        void Replace()
        {
            ReplicaSet.AwaitCaughtUp(set.Standby());
            set.Primary().KillCoordinator();
            set.Primary();
            set.StartStopped();
        }
    }

    private static string[] Places(Replica ledger) =>
        [.. Tool.Run("quarantine", "list", ledger.LogDirectory, "--json").Json.GetProperty("messages").EnumerateArray()
            .Select(static m => m.GetProperty("message").GetString()!)];

    [Fact]
    public void Policy_ThatIsNone_IsRefused()
    {
        using var cluster = new Cluster();
        Replica ledger = cluster.Add("ledger", "ledger");
        ledger.Options.AddRange(["--fork-policy", "ignore"]);
        ledger.Start();
        Assert.Equal(2, ledger.AwaitExit());
        ledger.AwaitLine("why", static line => line == "'ignore' of --fork-policy is none of continue, stop and quarantine");
        Assert.False(Directory.Exists(ledger.LogDirectory));
        cluster.Passed();
    }
}
