using System.Diagnostics;
using Ambrosia.Client;
using Ambrosia.EndToEnd.App;
using Ambrosia.Protocol.Runs;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>A handler that does not come back: its app goes with its coordinator, and operators are told which record it is.</summary>
public sealed class HungHandlerTests
{
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Coordinator_KilledThreeTimesWhileAHandlerLoops_LeavesNoApp(bool rings)
    {
        using var cluster = new Cluster();
        Replica bank = cluster.Add("bank", "bank");
        if (rings) bank.Options.Add("--app-rings");
        await cluster.RunAsync(Cluster.Again(nameof(Coordinator_KilledThreeTimesWhileAHandlerLoops_LeavesNoApp)), async () =>
        {
            await SpinAsync(cluster, bank);
            for (int kill = 0; kill < 3; kill++)
            {
                AwaitSpinning(bank);
                bank.KillCoordinator();
                Cluster.Await("no app is left", () => bank.RunningApps.Count == 0);
                bank.Start();
            }
        });
    }

    [Fact]
    public async Task Coordinator_TerminatedWhileAHandlerLoops_EndsWithZeroAndLeavesNoApp()
    {
        using var cluster = new Cluster();
        Replica bank = cluster.Add("bank", "bank");
        bank.Options.AddRange(["--stop-within", "2s"]); // it would wait for the handler
        await cluster.RunAsync(Cluster.Again(nameof(Coordinator_TerminatedWhileAHandlerLoops_EndsWithZeroAndLeavesNoApp)), async () =>
        {
            await SpinAsync(cluster, bank);
            AwaitSpinning(bank);
            Signals.Terminate(bank.Coordinator.Id);
            Assert.Equal(0, bank.AwaitExit());
            Assert.Empty(bank.RunningApps); // its coordinator has waited for it
        });
    }

    /// <summary>Live, and again on replay, where the coordinator never comes to say that it is ready.</summary>
    [Fact]
    public async Task Handler_Loops_IsNamedInTheLogAndByStatusLiveAndOnReplay()
    {
        using var cluster = new Cluster();
        Replica bank = cluster.Add("bank", "bank");
        bank.Options.AddRange(["--handler-warning", "1s"]);
        await cluster.RunAsync(Cluster.Again(nameof(Handler_Loops_IsNamedInTheLogAndByStatusLiveAndOnReplay)), async () =>
        {
            await SpinAsync(cluster, bank);
            string live = AwaitNamed(bank);
            AssertStatus(cluster, code: 1, $"executing the record at Lsn {live} ");
            AssertStatus(cluster, code: 1, $"(clientRequest of method {MethodIds.Of(nameof(IBank), nameof(IBank.Spin))} from caller ");
            bank.KillCoordinator();
            bank.Start();
            AssertStatus(cluster, code: 1, $"executing the record at Lsn {AwaitNamed(bank)} ");
            Assert.Null(bank.Lines.FindLast(static line => line.StartsWith("ready ", StringComparison.Ordinal), bank.StartedAt));
            File.Create(cluster.Until).Dispose();
            bank.AwaitLine("word that it goes on", static line => line.StartsWith("the app goes on", StringComparison.Ordinal));
            bank.AwaitReady();
            AssertStatus(cluster, code: 0, "bank ");
        });
    }

    /// <summary>Its place stands beside the log for whoever looks at it later, and the next app comes to the same message.</summary>
    [Fact]
    public async Task App_KilledWhileAHandlerLoops_LeavesItsPlaceForStatus()
    {
        using var cluster = new Cluster();
        Replica bank = cluster.Add("bank", "bank");
        bank.Options.AddRange(["--handler-warning", "1s"]);
        await cluster.RunAsync(Cluster.Again(nameof(App_KilledWhileAHandlerLoops_LeavesItsPlaceForStatus)), async () =>
        {
            await SpinAsync(cluster, bank);
            string place = AwaitNamed(bank), file = Path.Combine(bank.LogDirectory, "death.r0");
            Assert.False(File.Exists(file));
            bank.KillApp();
            Cluster.Await("the death is noted", () => File.Exists(file));
            Tool status = Tool.Run("status", "--catalog", cluster.Catalog);
            Assert.Matches($@"bank: the app of r0 died at [-:.TZ0-9]+, executing the record at Lsn {place} \(signal 9\)", status.Output);
            Assert.DoesNotContain(
                Directory.GetFiles(bank.LogDirectory), static each => each.Contains("death.r0.", StringComparison.Ordinal));
        });
    }

    [Fact]
    public void App_NeverConnects_IsSaidAfterFiveSecondsAndByStatus()
    {
        using var cluster = new Cluster();
        Replica bank = cluster.Add("bank", "bank");
        cluster.Run(Cluster.Again(nameof(App_NeverConnects_IsSaidAfterFiveSecondsAndByStatus)), () =>
        {
            bank.Start();
            bank.AwaitReady(); // the catalog knows it from here on
            bank.KillCoordinator();
            bank.Start(withApp: false);
            bank.AwaitLine("word of it", static line => line.StartsWith("no app has been connected for ", StringComparison.Ordinal));
            AssertStatus(cluster, code: 1, "r0 has had no app for ");
        });
    }

    /// <summary>Whoever asks is told in time; the claim stays with the primary that has hung as well.</summary>
    [Fact]
    public async Task Promote_AppOfTheStandbyLoops_ClaimsNothingAndEndsWithOne()
    {
        using var cluster = new Cluster();
        Replica bank = cluster.Add("bank", "bank"), standby = cluster.Add("bank", "bank");
        bank.Options.AddRange(["--handler-warning", "1s"]);
        standby.Options.AddRange(["--replica", "r1", "--handler-warning", "1s"]);
        await cluster.RunAsync(Cluster.Again(nameof(Promote_AppOfTheStandbyLoops_ClaimsNothingAndEndsWithOne)), async () =>
        {
            bank.Start();
            bank.AwaitReady();
            standby.Start();
            await SendSpinAsync(cluster);
            string place = AwaitNamed(standby);
            Tool promote = Tool.Run("promote", bank.LogDirectory, "r1", "--within", "2s");
            Assert.Equal((1, ""), (promote.Code, promote.Error));
            Assert.Contains("nothing was claimed within 2 s", promote.Output, StringComparison.Ordinal);
            Assert.Contains($"the record at Lsn {place}", promote.Output, StringComparison.Ordinal);
            Assert.Equal("primary", (string?)bank.Status()!["role"]); // nobody has taken over by itself either
            File.Create(cluster.Until).Dispose();
            standby.AwaitLine("word that it goes on", static line => line.StartsWith("the app goes on", StringComparison.Ordinal));
            Assert.Equal(0, Tool.Run("promote", bank.LogDirectory, "r1").Code);
            Assert.Equal(75, bank.AwaitExit());
        });
    }

    /// <summary>Waits for the event that names the message, whose record holds no other; returns its place.</summary>
    private static string AwaitNamed(Replica bank)
    {
        string place = bank.AwaitLine("the message that does not end",
            static line => line.StartsWith("the app has been executing the record at Lsn ", StringComparison.Ordinal)
                && line.Split("Lsn ")[1].Split(' ')[0].Contains(':', StringComparison.Ordinal))
            .Split("Lsn ")[1].Split(' ')[0];
        Assert.EndsWith(":0", place, StringComparison.Ordinal);
        return place;
    }

    private static void AssertStatus(Cluster cluster, int code, string text)
    {
        Tool status = Tool.Run("status", "--catalog", cluster.Catalog);
        Assert.Contains(text, status.Output, StringComparison.Ordinal);
        Assert.Equal((code, ""), (status.Code, status.Error));
    }

    /// <summary>Nobody but the app itself can end it then.</summary>
    [Fact]
    public async Task App_StartedByHandInALoopWhenItsCoordinatorIsKilled_EndsItselfWith74()
    {
        using var cluster = new Cluster();
        Replica bank = cluster.Add("bank", "bank");
        await cluster.RunAsync(Cluster.Again(nameof(App_StartedByHandInALoopWhenItsCoordinatorIsKilled_EndsItselfWith74)), async () =>
        {
            bank.Start(withApp: false);
            string[] words = bank.AwaitLine("app channel", static line => line.Contains("app channel ", StringComparison.Ordinal))
                .Split(' ', ',');
            Process app = bank.StartApp(words[Array.IndexOf(words, "channel") + 1], words[Array.IndexOf(words, "token") + 1]);
            bank.AwaitReady();
            await SendSpinAsync(cluster);
            AwaitSpinning(bank);
            bank.KillCoordinator();
            Assert.True(app.WaitForExit(Cluster.Patience), "the app outlives its coordinator");
            Assert.Equal(74, app.ExitCode);
        });
    }

    private static async Task SpinAsync(Cluster cluster, Replica bank)
    {
        bank.Start();
        bank.AwaitReady();
        await SendSpinAsync(cluster);
    }

    /// <summary>Comes back when the impulse is logged, before its handler runs.</summary>
    private static async Task SendSpinAsync(Cluster cluster)
    {
        await using ImmortalClient client = await cluster.ConnectAsync("bank");
        await client.GetProxy<IBank>().SpinLogged(cluster.Until).WaitAsync(Cluster.Patience);
    }

    /// <summary>An app that waits uses no processor time.</summary>
    private static void AwaitSpinning(Replica bank)
    {
        Cluster.Await("an app", () => bank.RunningApps.Count == 1);
        using var app = Process.GetProcessById(bank.RunningApps[0]);
        TimeSpan first = app.TotalProcessorTime;
        Cluster.Await("its handler runs", () =>
        {
            app.Refresh();
            return app.TotalProcessorTime - first > TimeSpan.FromSeconds(1);
        });
    }
}
