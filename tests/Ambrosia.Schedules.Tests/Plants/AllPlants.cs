using Ambrosia.Schedules.Rewriting;

namespace Ambrosia.Schedules.Tests.Plants;

/// <summary>Every fault that is planted for the scheduler to find.</summary>
internal static class AllPlants
{
    public static IReadOnlyList<Plant> List { get; } = [.. LogPlants.All, .. LinkPlants.All, .. OutputPlants.All];

    public static Plant Named(string name) => List.Single(plant => plant.Name == name);
}
