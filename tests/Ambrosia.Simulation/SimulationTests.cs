using Ambrosia.TestKit;

namespace Ambrosia.Simulation;

public sealed class SimulationTests
{
    private static int Seeds => TestScale.Rounds(2000);

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

    /// <summary>337: two checkpoint marks were under way when the image for the first arrived.</summary>
    [Theory]
    [InlineData(337)]
    public void Cluster_SeedThatFoundABug_Holds(ulong seed) => new World(seed, new Faults()).Run();

    [Fact]
    public void Cluster_SameSeedTwice_TakesTheSameSteps()
    {
        var first = new World(4711, new Faults());
        first.Run();
        var second = new World(4711, new Faults());
        second.Run();
        Assert.Equal(first.TraceHash, second.TraceHash);
    }

    [Theory]
    [InlineData(true, false)]
    [InlineData(false, true)]
    public void NegativeControl_LyingDiskOrRollingDice_IsFound(bool lyingDisk, bool rollingDice)
    {
        for (ulong seed = 1; seed <= 50; seed++)
        {
            try
            {
                new World(seed, new Faults { LyingDisk = lyingDisk, RollingDice = rollingDice }).Run();
            }
            catch (SimulationFailure)
            {
                return;
            }
        }
        Assert.Fail("fifty seeds with a planted fault, and none was found");
    }
}
