using System.Text.Json;

namespace Ambrosia.Samples.Tests;

/// <summary>Runs the example of the paper with the commands of its README.</summary>
public sealed class CounterTests
{
    [Fact]
    public void Counter_KilledBetweenIncrements_GoesOnCounting()
    {
        using var logs = new TemporaryDirectory();
        using ProgramRun monitor = Start(logs, "mon1", "monitor");
        using ProgramRun input = Start(logs, "input", "input");
        using (ProgramRun counter = Start(logs, "counter1", "counter"))
        {
            input.AwaitLine("ready instance=input");
            input.Tell("2500");
            monitor.AwaitLine("report 2: the count is 2000");
            counter.Kill();
        }
        using ProgramRun again = Start(logs, "counter1", "counter");
        input.Tell("3000");
        monitor.AwaitLine("report 5: the count is 5000");
        input.Tell("reset");
        input.Tell("1000");
        monitor.AwaitLine("report 6: the count is 1000");

        // What was is there, in one process beside the one that lives, and as the README says.
        (int code, _, string past) = ProgramRun.ToEnd(
            "Counter", "yesterday", "counter", Path.Combine(logs.Path, "counter1"), "method:Increment#1000");
        Assert.True(code == 0, past);
        Assert.Contains("stopped before", past, StringComparison.Ordinal);
        Assert.Contains("IMonitor.Report(count: 1000)", past, StringComparison.Ordinal);
        Assert.Contains("\"_count\": 1000", past, StringComparison.Ordinal);
    }

    /// <summary>What VS Code is told to start is what the build makes and the program takes.</summary>
    [Fact]
    public void LaunchConfigurations_OfTheSample_FitTogether()
    {
        string place = BuiltPrograms.Source("samples/Counter/.vscode");
        JsonElement launch = JsonDocument.Parse(File.ReadAllText(Path.Combine(place, "launch.json"))).RootElement,
            tasks = JsonDocument.Parse(File.ReadAllText(Path.Combine(place, "tasks.json"))).RootElement;
        string[] labels = [.. tasks.GetProperty("tasks").EnumerateArray().Select(static task => task.GetProperty("label").GetString()!)];
        JsonElement[] configurations = [.. launch.GetProperty("configurations").EnumerateArray()];
        string program = File.ReadAllText(BuiltPrograms.Source("samples/Counter/Program.cs"));
        foreach (JsonElement each in configurations.Where(static each => each.GetProperty("request").GetString() == "launch"))
        {
            Assert.Contains(each.GetProperty("preLaunchTask").GetString(), labels);
            Assert.EndsWith("/bin/Debug/net10.0/Counter.dll", each.GetProperty("program").GetString(), StringComparison.Ordinal);
            string[] args = [.. each.GetProperty("args").EnumerateArray().Take(2).Select(static arg => $"\"{arg}\"")];
            Assert.Contains($"case [{string.Join(", ", args)}, ", program, StringComparison.Ordinal);
        }
        string[] names = [.. configurations.Select(static each => each.GetProperty("name").GetString()!)];
        foreach (JsonElement compound in launch.GetProperty("compounds").EnumerateArray())
            Assert.All(compound.GetProperty("configurations").EnumerateArray(), each => Assert.Contains(each.GetString(), names));
    }

    [Fact]
    public void Monitor_KilledAndStartedAgain_SaysWhereThingsStand()
    {
        using var logs = new TemporaryDirectory();
        using ProgramRun counter = Start(logs, "counter1", "counter");
        using ProgramRun input = Start(logs, "input", "input");
        using (ProgramRun monitor = Start(logs, "mon1", "monitor"))
        {
            input.AwaitLine("ready instance=input");
            input.Tell("1000");
            monitor.AwaitLine("report 1: the count is 1000");
            monitor.Kill();
        }
        input.Tell("1000");
        using ProgramRun again = Start(logs, "mon1", "monitor");
        again.AwaitLine("report 2: the count is 2000");
    }

    private static ProgramRun Start(TemporaryDirectory logs, string instance, string app) => new(
        "ImmortalCoordinator", "--log", Path.Combine(logs.Path, instance), "--", Path.Combine(AppContext.BaseDirectory, "Counter"), app);
}
