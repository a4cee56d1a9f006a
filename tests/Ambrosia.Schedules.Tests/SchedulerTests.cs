using Ambrosia.Schedules.Rewriting;
using Ambrosia.Schedules.Strategies;
using Ambrosia.Schedules.Tests.Plants;
using Ambrosia.Schedules.Tests.Scenarios;

namespace Ambrosia.Schedules.Tests;

/// <summary>The scheduler itself: worlds of a few lines whose schedules can be counted, or which must fail.</summary>
public sealed class SchedulerTests(CopiesFixture copies) : IClassFixture<CopiesFixture>
{
    [Theory]
    [InlineData(nameof(CrossedLocksScenario), "Deadlock")]
    [InlineData(nameof(LostUpdateScenario), "Oracle")]
    [InlineData(nameof(EarlyPulseScenario), "Deadlock")]
    [InlineData(nameof(SpinAndWaitScenario), "Deadlock")]
    public void Exhaustive_WorldWithAFault_FindsIt(string scenario, string kind)
    {
        var explorer = new Explorer(copies.Plain.Make(scenario));
        Finding? found = explorer.Run(new ExhaustiveStrategy(2), 1_000);
        Assert.Equal(kind, found?.Failure.Kind.ToString());
        string trace = explorer.Trace(found!.Schedule, out Failure? again);
        Assert.Equal(found.Failure, again);
        Assert.NotEmpty(trace);
    }

    /// <summary>Of three steps and three there are 20 orders; the start of a thread is no step.</summary>
    [Fact]
    public void Exhaustive_WithoutABound_RunsEachOrderOnce()
    {
        var explorer = new Explorer(copies.Plain.Make(nameof(CountedScenario)));
        Assert.Null(explorer.Run(new ExhaustiveStrategy(int.MaxValue), int.MaxValue));
        Assert.True(explorer.IsExhausted);
        Assert.Equal(20, explorer.Distinct);
    }

    [Fact]
    public void Exhaustive_WithoutPreemptions_RunsOneThreadBehindTheOther()
    {
        var explorer = new Explorer(copies.Plain.Make(nameof(CountedScenario)));
        Assert.Null(explorer.Run(new ExhaustiveStrategy(0), int.MaxValue));
        Assert.Equal(2, explorer.Schedules);
    }

    [Fact]
    public void TimedWait_WhenAllStandStill_IsOver()
    {
        var explorer = new Explorer(copies.Plain.Make(nameof(TimedWaitScenario)));
        Assert.Null(explorer.Run(new RandomStrategy(1), 10));
    }

    [Fact]
    public void Schedule_WrittenAndRead_IsTheSame()
    {
        List<Alternative> choices = [new(1, false), new(1, false), new(12, true), new(2, false), new(2, true), new(2, true)];
        Assert.Equal("1x2,12t,2,2tx2", Schedule.Write(choices));
        Assert.Equal(choices, Schedule.Read("1x2,12t,2,2tx2"));
    }

    [Fact]
    public void Replay_OfAnotherWorld_SaysSo()
    {
        var explorer = new Explorer(copies.Plain.Make(nameof(CountedScenario)));
        Assert.Throws<ArgumentException>(() => explorer.Run(new ReplayStrategy(Schedule.Read("7")), 1));
    }

    /// <summary>A member without a shim is one that no scenario runs into; a new one belongs here or among the shims.</summary>
    [Fact]
    public void Copies_OfTheProduct_LackOnlyWhatNoScenarioRuns()
    {
        string folder = Path.GetDirectoryName(typeof(SchedulerTests).Assembly.Location)!;
        string[] missing = [
            .. ((string[])["Ambrosia.Protocol", "Ambrosia.AppChannel", "Ambrosia.Log", "CRA", "Ambrosia.Coordinator", "Ambrosia"])
                .SelectMany(name => Rewriter.Missing(Path.Combine(folder, name + ".dll")).Select(member => $"{name}: {member}"))
                .Where(static member => !member.Contains("Sockets.Socket::", StringComparison.Ordinal))];
        Assert.Equal([], missing);
    }

    [Fact]
    public void Plant_InAMethodThatHasChanged_SaysSo()
    {
        var plant = new Plant("none", nameof(CommitPumpScenario),
            new PlantEdit("Ambrosia.Log", "Ambrosia.Log.Commit.LogWriter::Begin", "NoSuchCall", AllPlants.List[0].Edits[0].By, []));
        var changed = new RewrittenAssemblies(typeof(SchedulerTests).Assembly.Location, plant);
        Exception thrown = Assert.ThrowsAny<Exception>(() =>
        {
            var explorer = new Explorer(changed.Make(plant.Scenario));
            explorer.Run(new RandomStrategy(1), 1);
        });
        Assert.Contains("does not call NoSuchCall", thrown.ToString(), StringComparison.Ordinal);
    }
}
