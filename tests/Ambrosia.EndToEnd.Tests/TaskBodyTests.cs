using Ambrosia.Client;
using Ambrosia.EndToEnd.App;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>Bodies of tasks and the process that they run in: one that ends it is set aside by name, and a stop lets them end.</summary>
public sealed class TaskBodyTests
{
    [Theory]
    [InlineData("retry", "mended")]
    [InlineData("drop", "Ambrosia.TaskGivenUp: An operator has given up task 1: its body is not run again, and what it has done to the world is unknown.")]
    public async Task Body_ThatEndsTheProcess_IsSetAsideByNameAndDecidedAbout(string decision, string answer)
    {
        using var cluster = new Cluster();
        Replica workshop = cluster.Add("workshop", "workshop");
        workshop.Settings["UNTIL"] = cluster.Until;
        await cluster.RunAsync(Cluster.Again(nameof(Body_ThatEndsTheProcess_IsSetAsideByNameAndDecidedAbout)), async () =>
        {
            workshop.Start();
            workshop.AwaitReady();
            await using ImmortalClient client = await cluster.ConnectAsync("workshop");
            ClientProxy<IWorkshop> proxy = client.GetProxy<IWorkshop>();
            Task<string> fatal = proxy.WithKey("fatal").DoAsync("fatal");

            string told = workshop.AwaitLine(
                "the body is set aside", static line => line.Contains("is set aside: the app died", StringComparison.Ordinal));
            Assert.Contains("task 1", told, StringComparison.Ordinal);
            Assert.Contains("Ambrosia.EndToEnd.App.Workshop.Do", told, StringComparison.Ordinal);
            Assert.Null(workshop.Lines.Find(static line => line.Contains("does not get past it", StringComparison.Ordinal)));

            // The app works on without it, and both commands name it.
            Assert.Equal("quick", await proxy.WithKey("quick").DoAsync("quick").WaitAsync(Cluster.Patience));
            Tool list = Tool.Run("quarantine", "list", workshop.LogDirectory);
            Assert.Contains("task:1", list.Output, StringComparison.Ordinal);
            Assert.Contains("Workshop.Do", list.Output, StringComparison.Ordinal);
            Assert.Contains("task 1 is set aside", Tool.Run("status", "--catalog", cluster.Catalog).Output, StringComparison.Ordinal);
            Assert.False(fatal.IsCompleted);

            File.Create(cluster.Until).Dispose();
            Assert.Equal(0, Tool.Run("quarantine", decision, workshop.LogDirectory, "task:1").Code);
            Assert.Equal(answer, await fatal.WaitAsync(Cluster.Patience));
            Assert.Equal(2, Tool.Run("quarantine", decision, workshop.LogDirectory, "task:x").Code);
            Assert.NotEqual(0, Tool.Run("quarantine", decision, workshop.LogDirectory, "task:1").Code);
        });
    }

    /// <summary>It is not tried again by another start of the coordinator either; other bodies that ran meanwhile go on.</summary>
    [Fact]
    public async Task Body_ThatIsSetAside_StaysSoBehindARestartOfTheCoordinator()
    {
        using var cluster = new Cluster();
        Replica workshop = cluster.Add("workshop", "workshop");
        workshop.Settings["UNTIL"] = cluster.Until;
        await cluster.RunAsync(Cluster.Again(nameof(Body_ThatIsSetAside_StaysSoBehindARestartOfTheCoordinator)), async () =>
        {
            workshop.Start();
            workshop.AwaitReady();
            await using (ImmortalClient client = await cluster.ConnectAsync("workshop"))
            {
                ClientProxy<IWorkshop> proxy = client.GetProxy<IWorkshop>();
                _ = proxy.WithKey("endless").DoAsync("endless");
                _ = proxy.WithKey("fatal").DoAsync("fatal");
                string told = workshop.AwaitLine(
                    "the body is set aside", static line => line.Contains("is set aside: the app died", StringComparison.Ordinal));
                Assert.Contains("task 2,", told, StringComparison.Ordinal);
            }
            workshop.KillCoordinator();
            workshop.Start();
            workshop.AwaitReady();
            await using ImmortalClient again = await cluster.ConnectAsync("workshop");
            Assert.Equal("quick", await again.GetProxy<IWorkshop>().WithKey("quick").DoAsync("quick").WaitAsync(Cluster.Patience));
            Assert.Contains("task:2", Tool.Run("quarantine", "list", workshop.LogDirectory).Output, StringComparison.Ordinal);
        });
    }

    [Fact]
    public async Task Stop_WhileABodyRuns_LetsItEndAndLogsItsResult()
    {
        using var cluster = new Cluster();
        Replica workshop = cluster.Add("workshop", "workshop");
        await cluster.RunAsync(Cluster.Again(nameof(Stop_WhileABodyRuns_LetsItEndAndLogsItsResult)), async () =>
        {
            workshop.Start();
            workshop.AwaitReady();
            await using (ImmortalClient client = await cluster.ConnectAsync("workshop"))
            {
                _ = client.GetProxy<IWorkshop>().WithKey("slow").DoAsync("slow");
                workshop.AwaitLine("the body begins", static line => line == "body begins: slow");
                workshop.StopCoordinator();
            }
            Assert.NotNull(workshop.Lines.Find(static line => line == "body ends: slow"));

            workshop.Start();
            workshop.AwaitReady();
            await using ImmortalClient again = await cluster.ConnectAsync("workshop");
            Assert.Equal("slow", await again.GetProxy<IWorkshop>().WithKey("slow").DoAsync("slow").WaitAsync(Cluster.Patience));
            Assert.Single(workshop.Lines.From(0), static line => line == "body begins: slow");
        });
    }
}
