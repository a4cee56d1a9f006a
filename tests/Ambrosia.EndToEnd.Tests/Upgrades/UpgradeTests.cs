using Ambrosia.EndToEnd.App;
using Ambrosia.TestKit;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>
/// A service whose class is replaced by its next version while it lives: whoever calls it sees the one or the other, and every call once.
/// The app carries both versions (<c>AmbrosiaApp.Run&lt;AccountV1, Account&gt;</c>).
/// </summary>
public sealed class UpgradeTests
{
    private const string To = "--upgrade-to";
    private const int TurnsMin = 2;

    /// <summary>
    /// The steps at which an upgrader dies, and what its log is of then (0: of either version): all of them in a release, and two in turn
    /// otherwise.
    /// </summary>
    private static readonly (string Point, uint Version)[] s_points =
    [
        ("upgrade.atTarget", 1), ("upgrade.afterConvert", 1), ("ckpt.midWrite", 1), ("upgrade.afterNewCkpt", 1), ("upgrade.beforeRecord", 1),
        ("upgrade.afterRecord", 0), ("upgrade.beforeRotate", 1), ("upgrade.midRecord", 0), ("upgrade.afterFence", 2),
    ];

    private static readonly Chance s_chance = new();

    public static TheoryData<int> Turns =>
        [.. Enumerable.Range(0, Math.Clamp(TestScale.Rounds(s_points.Length), TurnsMin, s_points.Length))];

    [Fact]
    public Task Service_StartedAgainWithTheUpgrade_GoesOnAsTheNextVersion() => Run(
        nameof(Service_StartedAgainWithTheUpgrade_GoesOnAsTheNextVersion), async (cluster, account) =>
    {
        account.Start().AwaitReady();
        Assert.Equal("1:300", await Accounts.Deposit(cluster, 3));
        account.StopCoordinator();

        account.Options.AddRange([To, "2"]);
        account.Start().AwaitReady();
        Assert.Equal("2:600", await Accounts.Deposit(cluster, 3));
        Assert.Equal(2u, VersionOf(account));

        account.KillCoordinator();
        account.Start().AwaitReady();
        Assert.Equal("2:900", await Accounts.Deposit(cluster, 3));
        await Accounts.AssertBooks(cluster, 9);
    });

    /// <summary>Nothing behind a checkpoint: the version before executes what was recorded, and is converted where that ends.</summary>
    [Fact]
    public Task Service_KilledBefore_ExecutesTheRestAsTheVersionBefore() => Run(
        nameof(Service_KilledBefore_ExecutesTheRestAsTheVersionBefore), async (cluster, account) =>
    {
        account.Start().AwaitReady();
        await Accounts.Deposit(cluster, 50);
        account.KillCoordinator();
        account.Options.AddRange([To, "2"]);
        account.Start().AwaitReady();
        Assert.Equal("2:5100", await Accounts.Deposit(cluster, 1));
        await Accounts.AssertBooks(cluster, 51);
    });

    /// <summary>The process that rehearses as a secondary takes over by itself, while callers call.</summary>
    [Fact]
    public Task Replica_ThatUpgrades_TakesOverUnderLoad() => Run(
        nameof(Replica_ThatUpgrades_TakesOverUnderLoad), async (cluster, account) =>
    {
        account.Start().AwaitReady();
        Replica next = cluster.Add("account", "account");
        next.Options.AddRange(["--replica", "v2", To, "2"]);
        await Accounts.AssertTakesOverUnderLoad(cluster, next, made: 0);
        Assert.Equal(75, account.AwaitExit());
    });

    /// <summary>A replica of both versions follows through the switch, and one of the former alone ends.</summary>
    [Fact]
    public Task Replicas_MeetTheSwitch_AsTheyCan() => Run(
        nameof(Replicas_MeetTheSwitch_AsTheyCan), async (cluster, account) =>
    {
        account.Start().AwaitReady();
        await Accounts.Deposit(cluster, 5);
        Replica both = cluster.Add("account", "account"), next = cluster.Add("account", "account");
        both.Options.AddRange(["--replica", "both"]);
        next.Options.AddRange(["--replica", "v2", To, "2"]);
        both.Start();
        Cluster.Await("it follows", () => both.Status("both")?["isCaughtUp"]?.GetValue<bool>() == true);
        next.Start().AwaitReady();
        Assert.Equal("2:600", await Accounts.Deposit(cluster, 1));
        Cluster.Await("the follower is of version 2", () => VersionOf(both, "both") == 2);
        Assert.True(both.IsRunning);
        next.KillCoordinator();
        both.AwaitReady();
        Assert.Equal("2:700", await Accounts.Deposit(cluster, 1));
        await Accounts.AssertBooks(cluster, 7);

        both.KillCoordinator();
        Replica former = cluster.Add("account", "account1");
        former.Options.AddRange(["--replica", "old"]);
        former.Start();
        Assert.Equal(76, former.AwaitExit());
    });

    /// <summary>
    /// Where the checkpoint that the record names is damaged, the state is converted again, and must be the one that it states.
    /// </summary>
    [Fact]
    public Task Recovery_WithoutTheNewCheckpoint_ConvertsAgain() => Run(
        nameof(Recovery_WithoutTheNewCheckpoint_ConvertsAgain), async (cluster, account) =>
    {
        account.Start().AwaitReady();
        await Accounts.Deposit(cluster, 20);
        account.Options.AddRange([To, "2"]);
        account.StopCoordinator();
        account.Start().AwaitReady();
        Assert.Equal("2:2100", await Accounts.Deposit(cluster, 1));
        account.KillCoordinator();
        Accounts.FlipABit(Accounts.CheckpointsOf(account)[^1]);
        account.Start().AwaitReady();
        Assert.Equal("2:2200", await Accounts.Deposit(cluster, 1));
        await Accounts.AssertBooks(cluster, 22);

        account.KillCoordinator();
        Replica alone = cluster.Add("account", "account2");
        alone.Options.AddRange(["--replica", "alone"]);
        alone.Start();
        Assert.Equal(65, alone.AwaitExit());
        Accounts.AwaitWhy(alone, "what lies before the upgrade is of version 1");

        account.Settings["CONVERSION"] = "clock";
        account.Start();
        Assert.Equal(70, account.AwaitExit());
        Accounts.AwaitWhy(account, "gave another state when it was repeated; they differ in field Account._calls");
        Accounts.AwaitWhy(account, "the conversion from version 1 to 2 gives another state than when the upgrade was made");

        account.Settings["CONVERSION"] = "other";
        account.Start();
        Assert.Equal(70, account.AwaitExit());
        Accounts.AwaitWhy(account, "its code was changed since, and no field can be named");
    });

    [Theory]
    [InlineData("throw", "cents are out of fashion")]
    [InlineData("send", "A conversion sends")]
    [InlineData("hang", "--upgrade-limit")]
    [InlineData("die", "the app ended while it converted its state")]
    public Task Conversion_ThatFails_LetsTheVersionBeforeGoOn(string how, string why) => Run(
        $"Conversion_ThatFails_LetsTheVersionBeforeGoOn&DisplayName~{how}", async (cluster, account) =>
    {
        account.Start().AwaitReady();
        await Accounts.Deposit(cluster, 3);
        account.StopCoordinator();
        account.Options.AddRange([To, "2", "--upgrade-limit", "1s"]);
        account.Settings["CONVERSION"] = how;
        account.Start();
        Assert.Contains(why, Accounts.AwaitWhy(account, "upgrade to version 2 given up; version 1 goes on"), StringComparison.Ordinal);
        account.AwaitReady();
        Assert.Equal("1:400", await Accounts.Deposit(cluster, 1));

        account.Settings.Remove("CONVERSION");
        account.StopCoordinator();
        account.Start().AwaitReady();
        Assert.Equal("2:500", await Accounts.Deposit(cluster, 1));
        await Accounts.AssertBooks(cluster, 5);
    });

    [Theory]
    [MemberData(nameof(Turns))]
    public Task Upgrader_KilledOnTheWay_IsStartedAgain(int turn) => Run(
        s_chance.Again($"UpgradeTests.{nameof(Upgrader_KilledOnTheWay_IsStartedAgain)}&DisplayName~{turn}"), async (cluster, account) =>
    {
        (string point, uint version) = s_points[(int)(((uint)s_chance.Seed + (uint)turn) % (uint)s_points.Length)];
        account.Start().AwaitReady();
        await Accounts.Deposit(cluster, 7);
        account.StopCoordinator();
        account.Options.AddRange([To, "2"]);
        account.Start(crashAt: point);
        Assert.Equal(Signals.KilledExitCode, account.AwaitExit());

        // Without the upgrade it goes on as what the log says; with it, it is made once.
        if (version > 0)
        {
            account.Options.RemoveRange(account.Options.Count - 2, 2);
            account.Start().AwaitReady();
            Assert.Equal(version, VersionOf(account));
            account.KillCoordinator();
            account.Options.AddRange([To, "2"]);
        }
        account.Start().AwaitReady();
        Assert.Equal("2:800", await Accounts.Deposit(cluster, 1));
        string report = await Accounts.Ask(cluster, static account => account.ReportAsync());
        Assert.EndsWith(" 1", report, StringComparison.Ordinal); // one OnUpgraded
        await Accounts.AssertBooks(cluster, 8);
    });

    [Fact]
    public Task Upgrade_ToAnotherVersionThanTheApps_IsMisuse() => Run(
        nameof(Upgrade_ToAnotherVersionThanTheApps_IsMisuse), async (cluster, account) =>
    {
        account.Start().AwaitReady();
        await Accounts.Deposit(cluster, 1);
        account.StopCoordinator();
        account.Options.AddRange([To, "3"]);
        account.Start();
        Assert.Equal(2, account.AwaitExit());
        Accounts.AwaitWhy(account, "--upgrade-to 3, and the app that has come is of version 2");
        Assert.Empty(Directory.EnumerateFiles(account.LogDirectory, "log.*.3")); // no epoch was claimed
    });

    /// <summary>A service that has begun as version 1, and its ledger.</summary>
    private static async Task Run(string again, Func<Cluster, Replica, Task> body)
    {
        using var cluster = new Cluster();
        Replica ledger = cluster.Add("ledger", "ledger"), account = cluster.Add("account", "account");
        await cluster.RunAsync(again.Contains(' ', StringComparison.Ordinal) ? again : Cluster.Again(again), async () =>
        {
            ledger.Start().AwaitReady();
            Replica first = cluster.Add("account", "account1"); // a log begins with the version of its first app
            first.Start().AwaitReady();
            first.StopCoordinator();
            await body(cluster, account);
        });
    }

    private static uint? VersionOf(Replica replica, string name = "r0") => (uint?)replica.Status(name)?["app"]?["version"]?.GetValue<long>();
}
