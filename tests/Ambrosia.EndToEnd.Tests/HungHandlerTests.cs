using System.Diagnostics;
using Ambrosia.Client;
using Ambrosia.EndToEnd.App;

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
        await cluster.RunAsync(Cluster.Again(nameof(Coordinator_TerminatedWhileAHandlerLoops_EndsWithZeroAndLeavesNoApp)), async () =>
        {
            await SpinAsync(cluster, bank);
            AwaitSpinning(bank);
            Signals.Terminate(bank.Coordinator.Id);
            Assert.Equal(0, bank.AwaitExit());
            Assert.Empty(bank.RunningApps); // its coordinator has waited for it
        });
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
        await using ImmortalClient client = await ImmortalClient.ConnectAsync(cluster.Catalog, "bank",
            new ClientOptions { ConnectWithin = Cluster.Patience });
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
