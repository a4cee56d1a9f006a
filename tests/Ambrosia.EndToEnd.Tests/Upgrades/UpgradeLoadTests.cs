using System.Collections.Concurrent;
using Ambrosia.Client;
using Ambrosia.EndToEnd.App;
using Ambrosia.TestKit;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>
/// Upgrades in the middle of calls with keys, suspended handlers, timers and tasks, while processes die or stand still: each call counts
/// once, each key has one answer, and versions never go back.
/// </summary>
public sealed class UpgradeLoadTests
{
    private const string To = "--upgrade-to";
    private const int TurnsMin = 2, CallsMin = 100, CallsOfARelease = 3000;

    /// <summary>The steps at which an upgrader dies: all of them in a release, and two in turn otherwise.</summary>
    private static readonly string[] s_points =
    [
        "takeover.afterClaim", "upgrade.atTarget", "upgrade.afterConvert", "ckpt.midWrite", "upgrade.afterNewCkpt",
        "upgrade.beforeRecord", "upgrade.afterRecord", "upgrade.beforeRotate", "upgrade.midRecord", "upgrade.afterFence",
    ];

    /// <summary>The steps at which a primary dies that makes the upgrade in its own epoch; likewise.</summary>
    private static readonly string[] s_pointsInPlace =
    [
        "upgrade.atTarget", "upgrade.afterConvert", "ckpt.midWrite", "upgrade.afterNewCkpt", "upgrade.beforeRecord", "upgrade.afterRecord",
        "upgrade.beforeRotate", "upgrade.midRecord", "upgrade.afterFence", "upgrade.beforeNewSession",
    ];

    /// <summary>
    /// The steps at which an upgrader with two builds dies, each alone and with other replicas: all in a release, one otherwise.
    /// </summary>
    private static readonly string[] s_pointsOfBuilds =
    [
        "takeover.afterClaim", "upgrade.atTarget", "upgrade.afterConvert", "ckpt.midWrite", "upgrade.afterNewCkpt", "upgrade.beforeRecord",
        "upgrade.afterRecord", "upgrade.beforeRotate", "upgrade.midRecord", "upgrade.afterFence", "upgrade.beforeNewSession",
    ];

    private const int ReplicasMax = 3;

    private static readonly Chance s_chance = new();

    public static TheoryData<int> TurnsOfBuilds
    {
        get
        {
            int all = s_pointsOfBuilds.Length * ReplicasMax;
            return [.. Enumerable.Range(0, TestScale.Rounds(all) < all ? 1 : all)];
        }
    }

    public static TheoryData<int> TurnsInPlace =>
        [.. Enumerable.Range(0, Math.Clamp(TestScale.Rounds(s_pointsInPlace.Length), 1, s_pointsInPlace.Length))];

    public static TheoryData<int> Turns =>
        [.. Enumerable.Range(0, Math.Clamp(TestScale.Rounds(s_points.Length), TurnsMin, s_points.Length))];

    /// <summary>The upgrader dies at a step and is started again, until the upgrade is made; others fail over meanwhile.</summary>
    [Theory]
    [MemberData(nameof(Turns))]
    public Task Upgrader_ThatDies_LosesNothing(int turn)
    {
        string point = s_points[(int)(((uint)s_chance.Seed + (uint)turn) % (uint)s_points.Length)];
        return Run(s_chance.Again($"{nameof(Upgrader_ThatDies_LosesNothing)}&DisplayName~{turn}"), cluster =>
        {
            Replica next = Upgrader(cluster, "v2").Start(crashAt: point);
            Assert.Equal(Signals.KilledExitCode, next.AwaitExit());
            next.Start();
            return [next];
        });
    }

    /// <summary>Two builds make the upgrade, each in a process of its own; handlers suspended in the one go on in the other.</summary>
    [Fact]
    public Task Builds_InTwoProcesses_LoseNothing() => Run(Cluster.Again(nameof(Builds_InTwoProcesses_LoseNothing)), cluster =>
    {
        Replica next = OfBothBuilds(cluster, "v2");
        next.Start().AwaitReady();
        return [next];
    });

    /// <summary>
    /// The same, and the upgrader dies at a step and is started again: the only replica, one of two, or one of three, of which the third
    /// has both builds and only follows.
    /// </summary>
    [Theory]
    [MemberData(nameof(TurnsOfBuilds))]
    public Task UpgraderOfTwoBuilds_ThatDies_LosesNothing(int turn)
    {
        uint at = (uint)s_chance.Seed + (uint)turn;
        string point = s_pointsOfBuilds[(int)(at / ReplicasMax % (uint)s_pointsOfBuilds.Length)];
        int replicas = (int)(at % ReplicasMax) + 1;
        return Run(s_chance.Again($"{nameof(UpgraderOfTwoBuilds_ThatDies_LosesNothing)}&DisplayName~{turn}"), cluster =>
        {
            Replica next = cluster.First;
            if (replicas == ReplicasMax)
            {
                Replica third = OfBothBuilds(cluster, "third");
                third.Options.AddRange(["--upgrade-within", "30m"]);
                third.Settings["CONVERSION"] = "throw"; // its own rehearsals never work
                third.Start();
                third.AwaitLine("it follows", static line => line.StartsWith("role=secondary", StringComparison.Ordinal));
            }
            if (replicas > 1) next = OfBothBuilds(cluster, "v2");
            else Accounts.WithBothBuilds(next).KillCoordinator(); // there is a rest for the old build
            next.Start(crashAt: point);
            Assert.Equal(Signals.KilledExitCode, next.AwaitExit());
            next.Start();
            return [next];
        });
    }

    private static Replica OfBothBuilds(LoadedCluster cluster, string name)
    {
        Replica next = cluster.Processes.Add("account", "account2");
        next.App = Executables.NextApp;
        next.Options.AddRange(["--replica", name, To, "2", "--old-app", $"{Executables.App} account1"]);
        return next;
    }

    /// <summary>The primary is asked to go on with the new build: no connection breaks, and nobody calls twice.</summary>
    [Fact]
    public Task Primary_ThatIsAsked_LosesNothingAndBreaksNoConnection() => Run(
        Cluster.Again(nameof(Primary_ThatIsAsked_LosesNothingAndBreaksNoConnection)), cluster =>
    {
        Tool upgrade = AskUpgrade(cluster.First);
        Assert.True(upgrade.Code == 0, upgrade.Output + upgrade.Error);
        return [cluster.First];
    }, isInPlace: true);

    /// <summary>The primary dies at a step of it, and is started again: as before, or, behind the record, with both builds.</summary>
    [Theory]
    [MemberData(nameof(TurnsInPlace))]
    public Task Primary_ThatDiesInItsUpgrade_LosesNothing(int turn)
    {
        string point = s_pointsInPlace[(int)(((uint)s_chance.Seed + (uint)turn) % (uint)s_pointsInPlace.Length)];
        return Run(s_chance.Again($"{nameof(Primary_ThatDiesInItsUpgrade_LosesNothing)}&DisplayName~{turn}"), cluster =>
        {
            Replica primary = cluster.First;
            Assert.Equal(1, AskUpgrade(primary).Code); // it has died
            Assert.Equal(Signals.KilledExitCode, primary.AwaitExit());
            primary.Start();
            Cluster.Await("it serves, or ends", () => !primary.IsRunning || primary.Status()?["role"]?.GetValue<string>() == "primary");
            if (primary.IsRunning) Assert.Equal(0, AskUpgrade(primary).Code);
            else
            {
                Assert.Equal(76, primary.AwaitExit());
                primary.Options.AddRange([To, "2", "--old-app", $"{Executables.App} account1"]);
                (primary.App, primary.Role) = (Executables.NextApp, "account2");
                primary.Start().AwaitReady();
            }
            return [primary];
        }, isInPlace: true, crashAt: point);
    }

    private static Tool AskUpgrade(Replica primary) =>
        Tool.Run("upgrade", primary.LogDirectory, "--to", $"{Executables.NextApp} account2");

    /// <summary>The old primary stands still from before the claim until behind the switch.</summary>
    [Fact]
    public Task Primary_ThatStandsStill_FindsItselfReplaced() => Run(
        Cluster.Again(nameof(Primary_ThatStandsStill_FindsItselfReplaced)), cluster =>
    {
        Replica next = Upgrader(cluster, "v2");
        next.Options.AddRange(["--hang-limit", "1"]);
        next.Start();
        next.AwaitLine("it follows", static line => line.StartsWith("role=secondary", StringComparison.Ordinal));
        int old = cluster.First.Coordinator.Id;
        Signals.Stop(old);
        try
        {
            next.AwaitReady();
        }
        finally
        {
            Signals.Continue(old);
        }
        Assert.Equal(75, cluster.First.AwaitExit());
        return [next];
    });

    /// <summary>Of two upgraders one makes the upgrade, and the other follows it or ends.</summary>
    [Fact]
    public Task Upgraders_AtOnce_MakeItOnce() => Run(Cluster.Again(nameof(Upgraders_AtOnce_MakeItOnce)), cluster =>
    {
        Replica one = Upgrader(cluster, "v2").Start(), other = Upgrader(cluster, "w2").Start();
        Cluster.Await("both have seen the switch", () => Has(one) && Has(other));
        return [one, other]; // one that had rehearsed when it saw the switch may have taken over from the other

        static bool Has(Replica replica) => !replica.IsRunning
            || replica.Status(replica.Options[1])?["app"]?["version"]?.GetValue<long>() == 2;
    });

    private static int Calls => Math.Max(CallsMin, TestScale.Rounds(CallsOfARelease));

    private static Replica Upgrader(LoadedCluster cluster, string name)
    {
        Replica next = cluster.Processes.Add("account", "account");
        next.Options.AddRange(["--replica", name, To, "2"]);
        return next;
    }

    /// <param name="isInPlace">The primary has the old build alone, and may die at a step.</param>
    private static async Task Run(
        string again, Func<LoadedCluster, Replica[]> upgrade, bool isInPlace = false, string? crashAt = null)
    {
        using var processes = new Cluster();
        Replica ledger = processes.Add("ledger", "ledger"), account = processes.Add("account", isInPlace ? "account1" : "account");
        await processes.RunAsync(again, async () =>
        {
            ledger.Start().AwaitReady();
            if (!isInPlace)
            {
                Replica first = processes.Add("account", "account1");
                first.Start().AwaitReady();
                first.StopCoordinator();
            }
            account.Start(crashAt: crashAt).AwaitReady();
            var load = new KeyedLoad(processes.Catalog, callers: 4);
            Cluster.Await("calls are answered", () => load.Answered > Calls);
            Replica[] upgraders = upgrade(new LoadedCluster(processes, account));
            Cluster.Await("calls are answered by version 2", () => load.AnsweredBy2 > Calls);
            await load.End();
            await load.AssertBooks();
            if (isInPlace && crashAt is null) Assert.Equal(0, load.Broken);
            Assert.Contains(upgraders, static each => each.IsRunning);
            Assert.Single(Upgrades(account.LogDirectory));
        });
    }

    /// <summary>The records that have brought a version into force.</summary>
    private static IEnumerable<string> Upgrades(string directory) =>
        Tool.Run("log", directory, "--records").Output.Split('\n')
            .Where(static line => line.Contains("  upgrade  ", StringComparison.Ordinal));

    private sealed record LoadedCluster(Cluster Processes, Replica First);

    /// <summary>Calls an account from several callers, each call with a key, again until it is answered.</summary>
    private sealed class KeyedLoad
    {
        private readonly ConcurrentDictionary<string, string> _answers = new();
        private readonly CancellationTokenSource _over = new();
        private readonly Task[] _callers;
        private readonly string _catalog;
        private int _by2, _broken;

        public KeyedLoad(string catalog, int callers)
        {
            _catalog = catalog;
            _callers = [.. Enumerable.Range(0, callers).Select(Call)];
        }

        public int Answered => _answers.Count;

        public int AnsweredBy2 => Volatile.Read(ref _by2);

        /// <summary>So often a connection broke under a call.</summary>
        public int Broken => Volatile.Read(ref _broken);

        public Task End()
        {
            _over.Cancel();
            return Task.WhenAll(_callers);
        }

        private async Task Call(int caller)
        {
            await using ImmortalClient client = await Connect("account");
            ClientProxy<IAccount> account = client.GetProxy<IAccount>();
            bool was2 = false;
            for (int number = 0; !_over.IsCancellationRequested; number++)
            {
                string key = $"{caller}/{number}";
                string answer = await Ask(account.WithKey(key), number);
                Assert.True(_answers.TryAdd(key, answer));
                if (number % 3 == 2) continue; // a call that was suspended says no version
                bool is2 = answer.StartsWith("2:", StringComparison.Ordinal);
                Assert.True(is2 || !was2, $"version 1 answers {key} behind version 2");
                was2 |= is2;
                if (is2) Interlocked.Increment(ref _by2);
            }
        }

        private async Task<string> Ask(ClientProxy<IAccount> account, int number)
        {
            while (true)
            {
                try
                {
                    Task<string> asked = number % 3 == 2 ? account.DepositLaterAsync(10) : account.DepositAsync(10);
                    return await asked.WaitAsync(Cluster.Patience);
                }
                catch (OutcomeUnknownException)
                {
                    Interlocked.Increment(ref _broken); // the key makes it one call however often it is made
                }
            }
        }

        /// <summary>Each key has one answer, whoever asks; each call was executed once, and the upgrade once.</summary>
        public async Task AssertBooks()
        {
            await using ImmortalClient client = await Connect("account");
            ClientProxy<IAccount> account = client.GetProxy<IAccount>();
            foreach ((string key, string answer) in _answers.Take(200).Concat(_answers.TakeLast(200)))
                Assert.Equal(answer, await Ask(account.WithKey(key), int.Parse(key[(key.IndexOf('/') + 1)..])));
            string[] report = (await account.ReportAsync().WaitAsync(Cluster.Patience)).Split(' ');
            int later = _answers.Values.Count(static answer => answer.StartsWith("later:", StringComparison.Ordinal));
            int deposits = _answers.Count - later;
            Assert.Equal(["2", $"{_answers.Count * 10}", $"{deposits * 10}", $"{deposits + 1}"], report[..4]);
            Assert.Equal("1", report[^1]);
            await using ImmortalClient other = await Connect("ledger");
            ClientProxy<ILedger> ledger = other.GetProxy<ILedger>();
            ulong hash = 0;
            for (ulong number = 1; number <= (ulong)deposits + 1; number++) hash = OrderHash.Mix(hash, number, default);
            string expected = $"{deposits + 1} {hash:x16} {later}";
            Cluster.Await($"the ledger says {expected}", () => ledger.SummaryAsync().GetAwaiter().GetResult() == expected);
        }

        private Task<ImmortalClient> Connect(string instance) =>
            ImmortalClient.ConnectAsync(_catalog, instance, new ClientOptions { ConnectWithin = Cluster.Patience });
    }
}
