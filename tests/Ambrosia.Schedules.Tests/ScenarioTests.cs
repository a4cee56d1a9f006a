using Ambrosia.Schedules.Rewriting;
using Ambrosia.Schedules.Strategies;
using Ambrosia.Schedules.Tests.Scenarios;
using Ambrosia.TestKit;

namespace Ambrosia.Schedules.Tests;

/// <summary>The product's parts hold under every schedule that is tried.</summary>
public sealed class ScenarioTests(CopiesFixture copies) : IClassFixture<CopiesFixture>
{
    public static TheoryData<string> Names => [.. AllScenarios.List.Select(static each => each.Name)];

    private static AllScenarios Of(string name) => AllScenarios.List.Single(each => each.Name == name);

    [Theory]
    [MemberData(nameof(Names))]
    public void Scenario_WithFewPreemptions_Holds(string name)
    {
        var explorer = new Explorer(copies.Plain.Make(name));
        Finding? finding = explorer.Run(new ExhaustiveStrategy(Of(name).Preemptions), int.MaxValue);
        Assert.True(finding is null, finding is null ? "" : explorer.Told(finding));
        Assert.True(explorer.IsExhausted && explorer.Distinct > 20, $"{explorer}");
    }

    [Theory]
    [MemberData(nameof(Names))]
    public void Scenario_ByRandomSchedules_Holds(string name)
    {
        var explorer = new Explorer(copies.Plain.Make(name));
        Finding? finding = explorer.Run(new RandomStrategy(1), TestScale.Rounds(Of(name).Random));
        Assert.True(finding is null, finding is null ? "" : explorer.Told(finding));
    }

    [Theory]
    [MemberData(nameof(Names))]
    public void Seed_RunTwice_TakesTheSameSteps(string name)
    {
        var once = new Explorer(copies.Plain.Make(name));
        var again = new Explorer(copies.Plain.Make(name));
        for (ulong seed = 1; seed <= 20; seed++)
        {
            once.Run(new RandomStrategy(seed), 1);
            again.Run(new RandomStrategy(seed), 1);
            Assert.Equal(once.StepHash, again.StepHash);
        }
    }
}

/// <summary>Copies without a plant, which all tests of a class share, since loading them takes longer than most schedules.</summary>
public sealed class CopiesFixture
{
    public RewrittenAssemblies Plain { get; } = new(typeof(CopiesFixture).Assembly.Location, null);
}
