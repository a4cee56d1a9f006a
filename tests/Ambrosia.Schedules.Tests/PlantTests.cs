using Ambrosia.Schedules.Rewriting;
using Ambrosia.Schedules.Strategies;
using Ambrosia.Schedules.Tests.Plants;

namespace Ambrosia.Schedules.Tests;

/// <summary>Each planted fault is found, and what is printed of it finds it again.</summary>
public sealed class PlantTests
{
    /// <summary>The rarest is found by one schedule of some thousand.</summary>
    private const int SchedulesMax = 100_000;

    public static TheoryData<string> Names => [.. AllPlants.List.Select(static plant => plant.Name)];

    [Theory]
    [MemberData(nameof(Names))]
    public void Plant_ByRandomSchedules_IsFoundAndRepeats(string name)
    {
        Plant plant = AllPlants.Named(name);
        var copies = new RewrittenAssemblies(typeof(PlantTests).Assembly.Location, plant);
        var explorer = new Explorer(copies.Make(plant.Scenario));
        Finding? found = explorer.Run(new RandomStrategy(1), SchedulesMax);
        Assert.NotNull(found);
        foreach (IStrategy again in (IStrategy[])[new ReplayStrategy(Schedule.Read(found.Schedule)), new RandomStrategy(found.Seed!.Value)])
        {
            var other = new Explorer(copies.Make(plant.Scenario));
            Finding? repeated = other.Run(again, 1);
            Assert.Equal(found.Failure.Kind, repeated?.Failure.Kind);
            Assert.Equal((found.Schedule, found.StepHash), (repeated!.Schedule, repeated.StepHash));
        }
    }
}
