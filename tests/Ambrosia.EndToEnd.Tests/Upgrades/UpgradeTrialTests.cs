using System.Text.Json;
using Ambrosia.EndToEnd.App;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>
/// <c>ambrosia upgrade check --test-upgrade</c> as a user runs it: the new version converts a copy of the state and executes the recorded
/// inputs beside the old one, and the log stays as it is.
/// </summary>
public sealed class UpgradeTrialTests
{
    private const int Before = 8, Behind = 24;

    private static string OldApp => $"{Executables.App} account1";

    private static string BothVersions => $"{Executables.App} account";

    private static string NewApp => $"{Executables.NextApp} account2";

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public Task Version_ThatDoesTheSame_IsAlike(bool hasTwoBuilds) => Run(
        $"{nameof(Version_ThatDoesTheSame_IsAlike)}&DisplayName~{hasTwoBuilds}", async (cluster, account) =>
    {
        await DepositLater(cluster, Before);
        Assert.Equal(0, Tool.Run("checkpoint", account.LogDirectory).Code);
        await DepositLater(cluster, Behind);
        account.KillCoordinator(); // the states are compared each time that the end is reached, and a digest may move it
        Tool tool = Try(account, hasTwoBuilds);
        Assert.True(tool.Code == 0, $"{tool.Code}: {tool.Output}{tool.Error}");
        JsonElement trial = TrialOf(tool), replay = trial.GetProperty("replay");
        Assert.True(trial.GetProperty("imageBytes").GetInt64() > 0, tool.Output);
        Assert.Equal("alike", replay.GetProperty("outcome").GetString());
        Assert.True(replay.GetProperty("callsCompared").GetInt64() >= Behind, tool.Output);
        // What becomes of the old state, and the new version's own.
        Assert.True(replay.GetProperty("statesCompared").GetInt32() == 1, tool.Output);
    });

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public Task Version_ThatAnswersOtherwise_IsFoundAtItsMessage(bool hasTwoBuilds) => Run(
        $"{nameof(Version_ThatAnswersOtherwise_IsFoundAtItsMessage)}&DisplayName~{hasTwoBuilds}", async (cluster, account) =>
    {
        await DepositLater(cluster, Before);
        Assert.Equal(0, Tool.Run("checkpoint", account.LogDirectory).Code);
        Assert.StartsWith("1:", await Accounts.Deposit(cluster, 1), StringComparison.Ordinal);
        Tool tool = Try(account, hasTwoBuilds);
        Assert.True(tool.Code == 1, $"{tool.Code}: {tool.Output}{tool.Error}");
        JsonElement found = TrialOf(tool).GetProperty("replay").GetProperty("differences")[0];
        Assert.True(found.GetProperty("exact").GetBoolean(), tool.Output);
        Assert.Contains("Deposit", found.GetProperty("message").GetString(), StringComparison.Ordinal);
        Assert.Contains("1:900", found.GetProperty("then").GetString(), StringComparison.Ordinal);
        Assert.Contains("2:900", found.GetProperty("now").GetString(), StringComparison.Ordinal);
    });

    [Theory]
    [InlineData("throw", true, "cents are out of fashion")]
    [InlineData("throw", false, "cents are out of fashion")]
    [InlineData("send", false, "A conversion sends")]
    [InlineData("hang", true, "it was not done within 1 s; --upgrade-limit gives it longer")]
    public Task Conversion_ThatFails_IsRefusedBeforeAnythingIsTouched(string how, bool hasTwoBuilds, string why) => Run(
        $"{nameof(Conversion_ThatFails_IsRefusedBeforeAnythingIsTouched)}&DisplayName~{how}", async (cluster, account) =>
    {
        await DepositLater(cluster, Before);
        account.StopCoordinator();
        string[] before = [.. Directory.EnumerateFiles(account.LogDirectory).Order(StringComparer.Ordinal)];
        Tool tool = Try(account, hasTwoBuilds, $"env CONVERSION={how} ", "--upgrade-limit", how == "hang" ? "1s" : "1m");
        Assert.True(tool.Code == 1, $"{tool.Code}: {tool.Output}{tool.Error}");
        Assert.Contains(why, TrialOf(tool).GetProperty("refusedBecause").GetString(), StringComparison.Ordinal);
        Assert.Equal(before, Directory.EnumerateFiles(account.LogDirectory).Order(StringComparer.Ordinal));
    });

    [Fact]
    public Task Misuse_OfTheTrial_SaysHowToMendIt() => Run(nameof(Misuse_OfTheTrial_SaysHowToMendIt), async (cluster, account) =>
    {
        await DepositLater(cluster, 1);
        Assert.Equal(0, Tool.Run("checkpoint", account.LogDirectory).Code);
        AssertMisuse(account, ["--old-app", OldApp], "--old-app says how --test-upgrade runs, which is not given");
        AssertMisuse(account, ["--test-upgrade", NewApp, "--old-app", OldApp, "--upgrade-limit", "0"], "'0' of --upgrade-limit is no time");
        AssertMisuse(account, ["--test-upgrade", "/nowhere/Account", "--old-app", OldApp], "the app has ended with code 127");
        AssertMisuse(account, ["--test-upgrade", $"{Executables.App} ledger", "--old-app", OldApp], "and the app that has come is of version 1");
        AssertMisuse(account, ["--test-upgrade", NewApp], "which the app does not carry");
        AssertMisuse(account, ["--test-upgrade", OldApp], "the app that has come is of version 1, and the upgrade is from version 1, to 2");
    });

    private static void AssertMisuse(Replica account, string[] options, string why)
    {
        Tool tool = Tool.Run(["upgrade", "check", account.LogDirectory, "--build", BuildOf(hasTwoBuilds: true), .. options]);
        Assert.True(tool.Code == 2, $"{tool.Code}: {tool.Output}{tool.Error}");
        Assert.True(tool.Error.Contains(why, StringComparison.Ordinal), $"{why}\n{tool.Error}");
    }

    private static Tool Try(Replica account, bool hasTwoBuilds, string environment = "", params string[] more) => Tool.Run(
        ["upgrade", "check", account.LogDirectory, "--json", "--build", BuildOf(hasTwoBuilds), "--test-upgrade",
            environment + (hasTwoBuilds ? NewApp : BothVersions), .. hasTwoBuilds ? (string[])["--old-app", OldApp] : [], .. more]);

    private static string BuildOf(bool hasTwoBuilds) =>
        Path.GetDirectoryName(hasTwoBuilds ? Executables.NextApp : Executables.App)!;

    /// <summary>The first line is what the check says, and the second one what the trial has come to.</summary>
    private static JsonElement TrialOf(Tool tool) =>
        JsonDocument.Parse(tool.Output.Split('\n', StringSplitOptions.RemoveEmptyEntries)[1]).RootElement;

    /// <summary>Both versions answer it alike.</summary>
    private static async Task DepositLater(Cluster cluster, int count)
    {
        for (int i = 0; i < count; i++)
            Assert.Equal("later:100", await Accounts.Ask(cluster, static account => account.DepositLaterAsync(100)));
    }

    private static async Task Run(string again, Func<Cluster, Replica, Task> body)
    {
        using var cluster = new Cluster();
        Replica ledger = cluster.Add("ledger", "ledger"), account = cluster.Add("account", "account1");
        await cluster.RunAsync(Cluster.Again(again), async () =>
        {
            ledger.Start().AwaitReady();
            account.Start().AwaitReady();
            await body(cluster, account);
        });
    }
}
