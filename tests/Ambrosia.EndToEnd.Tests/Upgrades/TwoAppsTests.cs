using Ambrosia.TestKit;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>
/// Upgrades by two builds, each in a process of its own (<c>--old-app</c>): the old one executes all that lies before the switch, and its
/// state becomes that of the new one by the names of its fields.
/// </summary>
public sealed class TwoAppsTests
{
    /// <summary>The steps at which an upgrader dies: all of them in a release, and one in turn otherwise.</summary>
    private static readonly string[] s_points =
    [
        "takeover.afterClaim", "upgrade.atTarget", "upgrade.afterConvert", "ckpt.midWrite", "upgrade.afterNewCkpt",
        "upgrade.beforeRecord", "upgrade.afterRecord", "upgrade.beforeRotate", "upgrade.midRecord", "upgrade.afterFence",
    ];

    /// <summary>What a conversion does, and why the upgrade is given up; likewise.</summary>
    private static readonly (string How, string Why)[] s_faults =
    [
        ("throw", "cents are out of fashion"), ("die", "the app of version 2 ended while it converted the state"),
        ("hang", "it was not done within --upgrade-limit 2 s"),
    ];

    private static readonly Chance s_chance = new();

    public static TheoryData<int> Points => TurnsOf(s_points.Length);

    public static TheoryData<int> Faults => TurnsOf(s_faults.Length);

    private static TheoryData<int> TurnsOf(int all) => [.. Enumerable.Range(0, Math.Clamp(TestScale.Rounds(all), 1, all))];

    private static T InTurn<T>(T[] of, int turn) => of[(int)(((uint)s_chance.Seed + (uint)turn) % (uint)of.Length)];

    [Fact]
    public Task Service_StartedAgainWithBothBuilds_GoesOnAsTheNextVersion() => Run(
        nameof(Service_StartedAgainWithBothBuilds_GoesOnAsTheNextVersion), async (cluster, account) =>
    {
        account.KillCoordinator(); // the rest is executed by the old build
        Upgrades(account).Start().AwaitReady();
        Assert.Equal("2:600", await Accounts.Deposit(cluster, 3));
        account.KillCoordinator();
        account.Start().AwaitReady(); // the old build is not needed any more, and does not run
        Assert.Equal("2:900", await Accounts.Deposit(cluster, 3));
        await Accounts.AssertBooks(cluster, 9);

        account.KillCoordinator();
        account.Options.Clear();
        account.Start().AwaitReady();
        Assert.Equal("2:1000", await Accounts.Deposit(cluster, 1));
    });

    [Fact]
    public Task Replica_ThatUpgrades_TakesOverUnderLoad() => Run(
        nameof(Replica_ThatUpgrades_TakesOverUnderLoad), async (cluster, account) =>
    {
        Replica next = Next(cluster, "v2");
        await Accounts.AssertTakesOverUnderLoad(cluster, next, made: 3);
        Assert.Equal(75, account.AwaitExit());
    });

    /// <summary>Another replica of both builds goes on with the new one where it meets the switch, and can be primary behind it.</summary>
    [Fact]
    public Task Follower_OfBothBuilds_GoesOnWithTheNewOne() => Run(
        nameof(Follower_OfBothBuilds_GoesOnWithTheNewOne), async (cluster, account) =>
    {
        Replica follower = Next(cluster, "both"), next = Next(cluster, "v2");
        follower.Options.AddRange(["--upgrade-within", "30m"]);
        follower.Settings["CONVERSION"] = "throw"; // its own rehearsals never work, so it only follows
        follower.Start();
        follower.AwaitLine("a refusal", static line => line.Contains("cents are out of fashion", StringComparison.Ordinal));
        next.Start().AwaitReady();
        Assert.Equal("2:400", await Accounts.Deposit(cluster, 1));
        Cluster.Await("the follower is of version 2", () => VersionOf(follower, "both") == 2);
    });

    /// <summary>The new build has the old class, too, and a constructor from it, which works on the old build's state.</summary>
    [Fact]
    public Task NewBuild_WithAConstructorFromTheOldClass_IsMadeByIt() => Run(
        nameof(NewBuild_WithAConstructorFromTheOldClass_IsMadeByIt), async (cluster, account) =>
    {
        Upgrades(account);
        (account.App, account.Role) = (Executables.BothApp, "account");
        account.KillCoordinator(); // the rest is executed by the old build
        account.Start().AwaitReady();
        Assert.Equal("2:400", await Accounts.Deposit(cluster, 1));
        account.KillCoordinator();
        Accounts.FlipABit(Accounts.CheckpointsOf(account)[^1]);
        account.Start().AwaitReady();
        account.AwaitLine("the old build", static line => line.Contains("is converted again", StringComparison.Ordinal));
        Assert.Equal("2:500", await Accounts.Deposit(cluster, 1));
        await Accounts.AssertBooks(cluster, 5);
    });

    /// <summary>
    /// Where the checkpoint that the record names is damaged, the old build is started again, and its state converted once more; likewise
    /// where it is not there.
    /// </summary>
    [Fact]
    public Task Recovery_WithoutTheNewCheckpoint_StartsTheOldBuildAgain() => Run(
        nameof(Recovery_WithoutTheNewCheckpoint_StartsTheOldBuildAgain), async (cluster, account) =>
    {
        account.StopCoordinator();
        Upgrades(account).Start().AwaitReady();
        Assert.Equal("2:400", await Accounts.Deposit(cluster, 1));
        account.KillCoordinator();
        string[] checkpoints = Accounts.CheckpointsOf(account);
        Accounts.FlipABit(checkpoints[^1]);
        account.Start().AwaitReady();
        account.AwaitLine("the old build", static line => line.Contains("is converted again", StringComparison.Ordinal));
        Assert.Equal("2:500", await Accounts.Deposit(cluster, 1));
        await Accounts.AssertBooks(cluster, 5);

        account.KillCoordinator();
        foreach (string file in Directory.EnumerateFiles(account.LogDirectory, "ckpt.*"))
            if (!file.EndsWith(Path.GetFileName(checkpoints[0]), StringComparison.Ordinal)) File.Delete(file);
        AwaitEnd(account, 70, "gave another state when it was repeated; they differ in field AccountV1._planted", conversion: "clock");
        AwaitEnd(account, 70, "It gives that each time, so its code, or that of the app of version 1, was changed since", conversion: "other");
        account.Settings["CONVERSION"] = "other once"; // it dies when it is to show whether it is a function, and is asked again
        account.Start();
        account.AwaitLine("that it is tried again", static line =>
            line.Contains("it is tried again: the app of version 2 ended while it converted the state", StringComparison.Ordinal));
        account.KillCoordinator();
        account.Options[^1] = "/nowhere/v1/Account";
        AwaitEnd(account, 65, "which build "); // the old build was deleted
        account.Options.Clear();
        AwaitEnd(account, 65, "which build "); // or is not named
    });

    private static void AwaitEnd(Replica account, int code, string why, string conversion = "")
    {
        account.Settings["CONVERSION"] = conversion;
        account.Start();
        Assert.Equal(code, account.AwaitExit());
        Accounts.AwaitWhy(account, why);
    }

    [Theory]
    [MemberData(nameof(Points))]
    public Task Upgrader_KilledOnTheWay_IsStartedAgain(int turn) => Run(
        s_chance.Again($"{nameof(Upgrader_KilledOnTheWay_IsStartedAgain)}&DisplayName~{turn}"), async (cluster, account) =>
    {
        string point = InTurn(s_points, turn);
        if (s_chance.Coin()) account.StopCoordinator();
        else account.KillCoordinator(); // there is a rest for the old build
        Upgrades(account).Start(crashAt: point);
        Assert.Equal(Signals.KilledExitCode, account.AwaitExit());
        account.Start().AwaitReady();
        Assert.Equal("2:400", await Accounts.Deposit(cluster, 1));
        await Accounts.AssertBooks(cluster, 4);
    });

    /// <summary>Behind the switch the old app has ended, and the new one is looked after as any app is.</summary>
    [Fact]
    public Task NewApp_KilledBehindTheSwitch_GoesOn() => Run(nameof(NewApp_KilledBehindTheSwitch_GoesOn), async (cluster, account) =>
    {
        account.StopCoordinator();
        Upgrades(account).Start().AwaitReady();
        Cluster.Await("the old app has ended", () => account.RunningApps.Count == 1);
        Assert.Equal("2:400", await Accounts.Deposit(cluster, 1));
        Signals.Kill(Accounts.AppOf(account, Executables.NextApp));
        Assert.Equal("2:500", await Accounts.Deposit(cluster, 1));
        await Accounts.AssertBooks(cluster, 5);
    });

    /// <summary>Whatever the new build does in its conversion, the old one goes on as primary, and says why.</summary>
    [Theory]
    [MemberData(nameof(Faults))]
    public Task Conversion_ThatFails_LetsTheOldBuildGoOn(int turn) => Run(
        s_chance.Again($"TwoAppsTests.{nameof(Conversion_ThatFails_LetsTheOldBuildGoOn)}&DisplayName~{turn}"), async (cluster, account) =>
    {
        (string how, string why) = InTurn(s_faults, turn);
        account.StopCoordinator();
        Upgrades(account).Options.AddRange(["--upgrade-limit", "2s"]);
        account.Settings["CONVERSION"] = how;
        account.Start();
        Assert.Contains(why, Accounts.AwaitWhy(account, "upgrade to version 2 given up; version 1 goes on"), StringComparison.Ordinal);
        account.AwaitReady();
        Assert.Equal("1:400", await Accounts.Deposit(cluster, 1));
        Cluster.Await("the new app has ended", () => account.RunningApps.Count == 1);
        Signals.Kill(Accounts.AppOf(account, Executables.App)); // the old one is looked after as any app is
        Assert.Equal("1:500", await Accounts.Deposit(cluster, 1));

        account.Settings.Remove("CONVERSION");
        account.StopCoordinator();
        Assert.False(File.Exists(Path.Combine(account.LogDirectory, "upgrade.r0")));
        account.Start().AwaitReady();
        Assert.Equal("2:600", await Accounts.Deposit(cluster, 1));
        await Accounts.AssertBooks(cluster, 6);
    });

    /// <summary>The old app dies while the new one converts its state: it is started again, and goes on.</summary>
    [Fact]
    public Task OldApp_KilledWhileItsStateIsConverted_GoesOn() => Run(
        nameof(OldApp_KilledWhileItsStateIsConverted_GoesOn), async (cluster, account) =>
    {
        account.StopCoordinator();
        Upgrades(account).Settings["CONVERSION"] = "hang";
        account.Start();
        Cluster.Await("the state is on its way", () => File.Exists(Path.Combine(account.LogDirectory, "upgrade.r0")));
        Signals.Kill(Accounts.AppOf(account, Executables.App));
        Accounts.AwaitWhy(account, "upgrade to version 2 given up; version 1 goes on");
        account.AwaitReady();
        Assert.Equal("1:400", await Accounts.Deposit(cluster, 1));
    });

    /// <summary>Nothing is claimed where the upgrade cannot be made: what, why, and how to mend it.</summary>
    [Fact]
    public Task Misuse_OfTheUpgrade_ClaimsNothing() => Run(nameof(Misuse_OfTheUpgrade_ClaimsNothing), async (cluster, account) =>
    {
        string old = $"{Executables.App} account1", next = Executables.NextApp;
        account.StopCoordinator();
        (string Role, string[] Options, string Why)[] rows =
        [
            ("account2", ["--upgrade-to", "3", "--old-app", old], "--upgrade-to 3, and the app that has come is of version 2: start the app of version 3"),
            ("account2", ["--upgrade-to", "2"], "the log is of version 1, which the app that has come does not carry: give the build that has executed it so far with --old-app"),
            ("account2", ["--upgrade-to", "2", "--old-app", $"{next} account2"], "--old-app is of version 2, and --upgrade-to is 2: give the build of the version before"),
            ("account2", ["--upgrade-to", "2", "--old-app", $"{Executables.App} ledger"], "--old-app is no build of 'account'"),
            ("account2", ["--upgrade-to", "2", "--old-app", "/nowhere/v1/Account"], "give the old build's program, and its arguments, as one text with --old-app"),
            ("account2", ["--upgrade-to", "2", "--old-app", $"{Executables.App} nothing"], "--old-app: the app ended with code 2"),
            ("account2", ["--old-app", old], "--old-app is half of an upgrade"),
            ("misuse", ["--upgrade-to", "2", "--old-app", old], "the app ended with code 2"),
            ("none", ["--upgrade-to", "2", "--old-app", old, "--upgrade-within", "4s"], "which is to take its place, has not come yet"),
        ];
        account.App = next;
        foreach ((string role, string[] options, string why) in rows)
        {
            account.Role = role;
            account.Options.Clear();
            account.Options.AddRange(options);
            account.Start();
            Assert.Equal(2, account.AwaitExit());
            Accounts.AwaitWhy(account, why);
            Assert.Empty(Directory.EnumerateFiles(account.LogDirectory, "log.*.2"));
        }
        account.Options.Clear();
        Upgrades(account).Start().AwaitReady();
        Assert.Equal("2:400", await Accounts.Deposit(cluster, 1));
    });

    /// <summary>Beside a primary, too, whose service goes on.</summary>
    [Fact]
    public Task Replica_WhoseNewBuildDoesNotCome_ClaimsNothing() => Run(
        nameof(Replica_WhoseNewBuildDoesNotCome_ClaimsNothing), async (cluster, account) =>
    {
        Replica next = Next(cluster, "v2");
        next.Options.AddRange(["--upgrade-within", "4s"]);
        next.Settings["CONVERSION"] = "hang"; // it comes, and does not come back from its first rehearsal
        next.Start();
        Assert.Equal(2, next.AwaitExit());
        Accounts.AwaitWhy(next, "no rehearsal of the upgrade to version 2 has worked within --upgrade-within");
        Assert.Equal("1:400", await Accounts.Deposit(cluster, 1));
        Assert.True(account.IsRunning);
    });

    /// <summary>What the tool says before and behind it.</summary>
    [Fact]
    public Task Tool_BeforeAndBehindTheUpgrade_SaysWhatIsNeeded() => Run(
        nameof(Tool_BeforeAndBehindTheUpgrade_SaysWhatIsNeeded), async (cluster, account) =>
    {
        account.StopCoordinator();
        Tool check = Tool.Run("upgrade", "check", account.LogDirectory, "--build", Path.GetDirectoryName(Executables.NextApp)!);
        Assert.True(check.Code == 0, check.Output + check.Error);
        Assert.Contains("AccountV1._cents: it goes on as _balance.", check.Output, StringComparison.Ordinal);
        Assert.Contains("AccountV1._planted: it is new, and begins with the default of its type.", check.Output, StringComparison.Ordinal);
        Assert.Contains("stands against an upgrade from version 1 to 2", check.Output, StringComparison.Ordinal);
        Tool both = Tool.Run("upgrade", "check", account.LogDirectory, "--build", Path.GetDirectoryName(Executables.App)!);
        Assert.True(both.Code == 0, both.Output + both.Error);
        Assert.Contains("a constructor makes Ambrosia.EndToEnd.App.Account of it", both.Output, StringComparison.Ordinal);

        Upgrades(account).Start().AwaitReady();
        string status = Tool.Run("status", "--catalog", cluster.Catalog).Output;
        Assert.Contains("account: version 2 is in force; keep the build of version 1 (", status, StringComparison.Ordinal);
        Assert.Contains("are sound: one is", status, StringComparison.Ordinal);
        Assert.Equal("2:400", await Accounts.Deposit(cluster, 1));
        Assert.Equal(0, Tool.Run("checkpoint", account.LogDirectory).Code);
        status = Tool.Run("status", "--catalog", cluster.Catalog).Output;
        Assert.DoesNotContain("keep the build", status, StringComparison.Ordinal);
        Tool again = Tool.Run("upgrade", "check", account.LogDirectory, "--build", Path.GetDirectoryName(Executables.NextApp)!);
        Assert.True(again.Code == 1, again.Output + again.Error);
        Assert.Contains("it states version 2, and the log is of version 2; raise [AppVersion].", again.Output, StringComparison.Ordinal);
    });

    private static Task Run(string again, Func<Cluster, Replica, Task> body) => Accounts.RunOfVersion1(again, body);

    /// <summary>The same replica, which makes the upgrade when it is started again.</summary>
    private static Replica Upgrades(Replica account) => Accounts.WithBothBuilds(account);

    private static Replica Next(Cluster cluster, string name, string role = "account2")
    {
        Replica next = cluster.Add("account", role);
        next.App = Executables.NextApp;
        next.Options.AddRange(["--replica", name, "--upgrade-to", "2", "--old-app", $"{Executables.App} account1"]);
        return next;
    }

    private static uint? VersionOf(Replica replica, string name) => (uint?)replica.Status(name)?["app"]?["version"]?.GetValue<long>();
}
