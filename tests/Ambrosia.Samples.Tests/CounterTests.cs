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
