using System.Diagnostics;
using System.Globalization;
using Ambrosia.TestKit;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>
/// Upgrades under a running primary (<c>ambrosia upgrade DIR --to NEWAPP</c>): another build takes the place of the app in the same epoch,
/// over the same links, or the one before goes on.
/// </summary>
public sealed class InPlaceUpgradeTests
{
    private static readonly Chance s_chance = new();

    /// <summary>What the new app does in its rehearsals, and why the upgrade is given up: one in turn, or all in a release.</summary>
    private static readonly (string How, string Why)[] s_faults =
    [
        ("throw", "cents are out of fashion"), ("die", "the app of version 2 ended while it converted the state"),
        ("hang", "the new app has not come back from its conversion"),
    ];

    public static TheoryData<int> Faults => [.. Enumerable.Range(0, Math.Clamp(TestScale.Rounds(s_faults.Length), 1, s_faults.Length))];

    private static string NewApp => $"{Executables.NextApp} account2";

    [Fact]
    public Task Primary_ThatIsAsked_GoesOnAsTheNextVersionInItsEpoch() => Run(
        nameof(Primary_ThatIsAsked_GoesOnAsTheNextVersionInItsEpoch), async (cluster, account) =>
    {
        var sinceReady = Stopwatch.StartNew();
        Tool upgrade = Tool.Run("upgrade", account.LogDirectory, "--to", NewApp);
        Assert.True(upgrade.Code == 0, upgrade.Output + upgrade.Error + account.Lines);
        string again = account.Lines.FindLast(static line => line.StartsWith("ready ", StringComparison.Ordinal))!;
        double took = double.Parse(again[(again.LastIndexOf(' ') + 1)..^"ms".Length], CultureInfo.InvariantCulture);
        Assert.True(took <= sinceReady.Elapsed.TotalMilliseconds, $"the first app's time counts too: {again}");
        Assert.Contains("version 2 is in force behind version 1, and its app is primary", upgrade.Output, StringComparison.Ordinal);
        Assert.Contains($"Start it from now on with: --upgrade-to 2 --old-app '{Executables.App} account1' -- {NewApp}", upgrade.Output,
            StringComparison.Ordinal);
        Assert.Equal("2:400", await Accounts.Deposit(cluster, 1));
        Assert.Empty(Directory.EnumerateFiles(account.LogDirectory, "log.*.2"));
        Cluster.Await("the old app has ended", () => account.RunningApps.Count == 1);
        string status = Tool.Run("status", "--catalog", cluster.Catalog).Output;
        Assert.Contains("account: r0 goes on with another app than its command line names", status, StringComparison.Ordinal);

        Signals.Kill(Accounts.AppOf(account, Executables.NextApp)); // it is looked after as any app is
        Assert.Equal("2:500", await Accounts.Deposit(cluster, 1));
        account.KillCoordinator();
        account.Start(); // the command line of before
        Assert.Equal(76, account.AwaitExit());
        Accounts.AwaitWhy(account, $"give --upgrade-to 2 --old-app '{Executables.App} account1' -- {NewApp}");
        Upgraded(account).Start().AwaitReady();
        Assert.Equal("2:600", await Accounts.Deposit(cluster, 1));
        await Accounts.AssertBooks(cluster, 6);
    });

    /// <summary>Whatever the new app does in its rehearsals, the one before serves on, and the tool says why.</summary>
    [Theory]
    [MemberData(nameof(Faults))]
    public Task Rehearsal_ThatFails_LetsTheAppServeOn(int turn) => Run(
        s_chance.Again($"{nameof(Rehearsal_ThatFails_LetsTheAppServeOn)}&DisplayName~{turn}"), async (cluster, account) =>
    {
        (string how, string why) = s_faults[(int)(((uint)s_chance.Seed + (uint)turn) % (uint)s_faults.Length)];
        account.StopCoordinator();
        account.Settings["CONVERSION"] = how;
        account.Start().AwaitReady();
        Tool upgrade = Tool.Run("upgrade", account.LogDirectory, "--to", NewApp, "--within", "8s");
        Assert.True(upgrade.Code == 1, upgrade.Output + upgrade.Error + account.Lines);
        Assert.Contains("it was given up, and version 1 goes on: no rehearsal has worked within --within", upgrade.Output,
            StringComparison.Ordinal);
        Assert.Contains(why, upgrade.Output, StringComparison.Ordinal);
        Assert.Equal("1:400", await Accounts.Deposit(cluster, 1));
        Cluster.Await("the new app has ended", () => account.RunningApps.Count == 1);
        Signals.Kill(account.RunningApps.Single()); // it is looked after as before
        Assert.Equal("1:500", await Accounts.Deposit(cluster, 1));
    });

    /// <summary>
    /// A primary whose command line asks for an upgrade that was given up serves with the old one of its two apps, which is upgraded like
    /// any other.
    /// </summary>
    [Fact]
    public Task Primary_WhoseOwnUpgradeWasGivenUp_GoesOnAsTheNextVersion() => Run(
        nameof(Primary_WhoseOwnUpgradeWasGivenUp_GoesOnAsTheNextVersion), async (cluster, account) =>
    {
        account.StopCoordinator();
        account.Settings["CONVERSION"] = "throw";
        Upgraded(account).Start();
        Accounts.AwaitWhy(account, "upgrade to version 2 given up; version 1 goes on");
        Assert.Equal("1:400", await Accounts.Deposit(cluster, 1));
        Tool upgrade = Tool.Run("upgrade", account.LogDirectory, "--to", $"env CONVERSION= {NewApp}");
        Assert.True(upgrade.Code == 0, upgrade.Output + upgrade.Error + account.Lines);
        Assert.Contains($"--upgrade-to 2 --old-app '{Executables.App} account1' -- env CONVERSION= {NewApp}", upgrade.Output,
            StringComparison.Ordinal);
        Assert.Equal("2:500", await Accounts.Deposit(cluster, 1));
        Cluster.Await("the old app has ended", () => account.RunningApps.Count == 1);
        Signals.Kill(Accounts.AppOf(account, Executables.NextApp)); // it is looked after as any app is
        Assert.Equal("2:600", await Accounts.Deposit(cluster, 1));
        await Accounts.AssertBooks(cluster, 6);
    });

    /// <summary>
    /// The new app carries the old class, too, and makes its state by the constructor from it, though the old code runs in another process.
    /// One that runs already and carries both is told how it is upgraded.
    /// </summary>
    [Fact]
    public Task App_OfBothVersions_ReshapesTheStateByItsConstructor() => Run(
        nameof(App_OfBothVersions_ReshapesTheStateByItsConstructor), async (cluster, account) =>
    {
        string both = $"{Executables.BothApp} account";
        account.StopCoordinator();
        account.Role = "account";
        account.Start().AwaitReady();
        Tool same = Tool.Run("upgrade", account.LogDirectory, "--to", both);
        Assert.Equal(2, same.Code);
        Assert.Contains("the one that runs carries version 2 itself", same.Error, StringComparison.Ordinal);
        account.StopCoordinator();
        account.Role = "account1";
        account.Start().AwaitReady();
        Tool upgrade = Tool.Run("upgrade", account.LogDirectory, "--to", both);
        Assert.True(upgrade.Code == 0, upgrade.Output + upgrade.Error + account.Lines);
        Assert.Equal("2:400", await Accounts.Deposit(cluster, 1));
        await Accounts.AssertBooks(cluster, 4);

        account.KillCoordinator();
        (account.App, account.Role) = (Executables.BothApp, "account");
        account.Start().AwaitReady(); // it carries what the log needs, alone
        Assert.Equal("2:500", await Accounts.Deposit(cluster, 1));
        await Accounts.AssertBooks(cluster, 5);
    });

    /// <summary>What cannot be is refused, and nothing has changed: the next one works.</summary>
    [Fact]
    public Task Misuse_OfTheUpgrade_ChangesNothing() => Run(nameof(Misuse_OfTheUpgrade_ChangesNothing), async (cluster, account) =>
    {
        (string To, string Why)[] rows =
        [
            ("/nowhere/v2/Account", "there is no program '/nowhere/v2/Account'"),
            ($"{Executables.App} account1", "which runs already; the log is of version 1, and versions only go up"),
            ($"{Executables.App} ledger", "versions only go up"),
            ($"{Executables.NextApp} misuse", "the app ended with code 2"),
            ($"{Executables.NextApp} none", "the new app has not said hello within 2 s"),
            ("\"half", "is no command"),
        ];
        foreach ((string to, string why) in rows)
        {
            Tool refused = Tool.Run("upgrade", account.LogDirectory, "--to", to, "--within", "2s");
            Assert.True(refused.Code == 2 && refused.Error.Contains(why, StringComparison.Ordinal), $"{to}: {refused.Code} {refused.Output}{refused.Error}");
        }
        Assert.Equal(2, Tool.Run("upgrade", account.LogDirectory).Code);
        Assert.Equal("1:400", await Accounts.Deposit(cluster, 1));
        Assert.Single(account.RunningApps);
        Assert.Equal(0, Tool.Run("upgrade", account.LogDirectory, "--to", NewApp).Code);
        Assert.Contains("versions only go up", Tool.Run("upgrade", account.LogDirectory, "--to", $"{Executables.App} account1").Error,
            StringComparison.Ordinal);
        Assert.Equal("2:500", await Accounts.Deposit(cluster, 1));
        account.StopCoordinator();
        Tool nobody = Tool.Run("upgrade", account.LogDirectory, "--to", NewApp);
        Assert.Contains("no replica of it runs here", nobody.Error, StringComparison.Ordinal);
    });

    /// <summary>A replica of the old version alone ends by itself where it meets the switch; one of both builds goes on.</summary>
    [Fact]
    public Task Followers_BehindTheSwitch_EndOrGoOn() => Run(nameof(Followers_BehindTheSwitch_EndOrGoOn), async (cluster, account) =>
    {
        Replica old = cluster.Add("account", "account1"), both = cluster.Add("account", "account2");
        old.Options.AddRange(["--replica", "old"]);
        both.App = Executables.NextApp;
        both.Options.AddRange(["--replica", "both", "--upgrade-to", "2", "--upgrade-within", "30m", "--old-app", $"{Executables.App} account1"]);
        both.Settings["CONVERSION"] = "throw"; // its own rehearsals never work, so it only follows
        old.Start();
        both.Start();
        both.AwaitLine("a refusal", static line => line.Contains("cents are out of fashion", StringComparison.Ordinal));
        Assert.Equal(0, Tool.Run("upgrade", account.LogDirectory, "--to", NewApp).Code);
        Assert.Equal(76, old.AwaitExit());
        Cluster.Await("the follower is of version 2", () => both.Status("both")?["app"]?["version"]?.GetValue<long>() == 2);
        account.KillCoordinator();
        both.AwaitReady();
        Assert.Equal("2:400", await Accounts.Deposit(cluster, 1));
        await Accounts.AssertBooks(cluster, 4);
    });

    private static Task Run(string again, Func<Cluster, Replica, Task> body) => Accounts.RunOfVersion1(again, body);

    /// <summary>The same replica with the command line that the tool gives behind an upgrade.</summary>
    private static Replica Upgraded(Replica account) => Accounts.WithBothBuilds(account);
}
