using Ambrosia.EndToEnd.App;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>
/// The way back from an upgrade by two builds: the old binary goes on as the next version, with what it knows of the state as it is now,
/// and everything that was executed meanwhile counts.
/// </summary>
public sealed class RollbackTests
{
    private static string OldBuild => Path.GetDirectoryName(Executables.App)!;

    [Fact]
    public async Task OldBuild_BehindTheUpgrade_GoesOnAsTheNextVersion()
    {
        using var cluster = new Cluster();
        Replica ledger = cluster.Add("ledger", "ledger"), account = cluster.Add("account", "account1");
        await cluster.RunAsync(Cluster.Again(nameof(OldBuild_BehindTheUpgrade_GoesOnAsTheNextVersion)), async () =>
        {
            ledger.Start().AwaitReady();
            account.Start().AwaitReady();
            Assert.Equal("1:300", await Accounts.Deposit(cluster, 3));
            account.StopCoordinator();
            AssertSays(account, 0, "Version 1 is in force, and the log, as far as it is kept, has no other.", loses: false);

            account.Options.AddRange(["--upgrade-to", "2", "--old-app", $"{Executables.App} account1"]);
            (account.App, account.Role) = (Executables.NextApp, "account2");
            account.Start().AwaitReady();
            Assert.Equal("2:400", await Accounts.Deposit(cluster, 1));
            Assert.Equal(0, Tool.Run("checkpoint", account.LogDirectory).Code);
            AssertSays(account, 1, "inputs were executed as it since", loses: true);
            account.StopCoordinator();

            account.Options.Clear();
            account.Options.AddRange(["--upgrade-to", "3", "--app-version", "3", "--old-app", $"{Executables.NextApp} account2"]);
            (account.App, account.Role) = (Executables.App, "account1");
            account.Start().AwaitReady();
            // The balance had another name meanwhile, as the tool has said; the rest goes on.
            Assert.Equal("1:100", await Accounts.Deposit(cluster, 1));
            Assert.StartsWith("1 100 500 ", await Accounts.Ask(cluster, static each => each.ReportAsync()), StringComparison.Ordinal);

            account.KillCoordinator();
            account.Options.Clear();
            account.Start();
            Assert.Equal(76, account.AwaitExit()); // the binary alone is of version 1
            account.Options.AddRange(["--app-version", "3"]);
            account.Start().AwaitReady();
            Assert.Equal("1:200", await Accounts.Deposit(cluster, 1));
        });
    }

    /// <summary>
    /// Right behind the upgrade, in its own epoch, the old build is a next version like any other, and the one that runs is none.
    /// </summary>
    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public Task OldBuild_InTheEpochOfTheUpgrade_GoesOnAsTheNextVersion(bool isBeside) => Accounts.RunOfVersion1(
        $"{nameof(OldBuild_InTheEpochOfTheUpgrade_GoesOnAsTheNextVersion)}&DisplayName~{isBeside}", async (cluster, account) =>
    {
        string next = $"{Executables.NextApp} account2";
        Assert.Equal(0, Tool.Run("upgrade", account.LogDirectory, "--to", next).Code);
        Assert.Equal("2:400", await Accounts.Deposit(cluster, 1));
        Tool same = Tool.Run("upgrade", account.LogDirectory, "--to", $"env AMBROSIA_APP_VERSION=3 {next}");
        Assert.True(same.Code == 2, $"{same.Code}: {same.Output}{same.Error}");
        Assert.Contains("which executes the log as version 2", same.Error, StringComparison.Ordinal);
        if (isBeside)
        {
            Tool back = Tool.Run("upgrade", account.LogDirectory, "--to", $"env AMBROSIA_APP_VERSION=3 {Executables.App} account1");
            Assert.True(back.Code == 0, $"{back.Code}: {back.Output}{back.Error}{account.Lines}");
        }
        else
        {
            Replica back = cluster.Add("account", "account1");
            back.Options.AddRange(["--replica", "back", "--upgrade-to", "3", "--app-version", "3", "--old-app", next]);
            back.Start().AwaitReady();
        }
        Assert.Equal("1:100", await Accounts.Deposit(cluster, 1)); // the balance had another name meanwhile
        Assert.StartsWith("1 100 500 ", await Accounts.Ask(cluster, static each => each.ReportAsync()), StringComparison.Ordinal);
    });

    private static void AssertSays(Replica account, int code, string sentence, bool loses)
    {
        Tool tool = Tool.Run("rollback", account.LogDirectory, "--build", OldBuild);
        Assert.True(tool.Code == code, $"{tool.Code}: {tool.Output}{tool.Error}");
        Assert.Contains(sentence, tool.Output, StringComparison.Ordinal);
        string lost = "AccountV1._balance: it is dropped, with values in 1 of 1 object";
        Assert.Equal(loses, tool.Output.Contains(lost, StringComparison.Ordinal));
    }
}
