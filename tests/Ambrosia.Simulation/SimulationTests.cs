using Ambrosia.TestKit;

namespace Ambrosia.Simulation;

public sealed class SimulationTests
{
    private static int Seeds => (int)(2000 * double.Parse(Environment.GetEnvironmentVariable("AMBROSIA_TEST_SCALE") ?? "0.1", System.Globalization.CultureInfo.InvariantCulture));

    [Fact]
    public void Cluster_CrashesAtAnyStep_AppliesEveryCallOnceInOrder()
    {
        int crashes = 0;
        for (ulong seed = 1; seed <= (ulong)Seeds; seed++)
        {
            var world = new World(seed, new Faults());
            world.Run();
            crashes += world.Crashes;
        }
        Assert.True(crashes > Seeds, $"only {crashes} crashes in {Seeds} seeds");
    }

    [Fact]
    public void Cluster_SameSeedTwice_TakesTheSameSteps()
    {
        World first = new(4711, new Faults()), second = new(4711, new Faults());
        first.Run();
        second.Run();
        Assert.Equal(first.TraceHash, second.TraceHash);
    }
}
