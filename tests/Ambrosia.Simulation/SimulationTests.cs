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

    /// <summary>
    /// 337: two checkpoint marks were under way when the image for the first arrived. 8 and 60: a promoted secondary took a tail that was logged
    /// again, which is older than its segment, for torn (8) or for damaged (60).
    /// </summary>
    [Theory]
    [InlineData(8)]
    [InlineData(60)]
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

    /// <summary>Each oracle alone finds what it is there for, in runs where nothing else can fail: no process dies and no power is lost.</summary>
    [Theory]
    [InlineData("I2", true, false, false)]
    [InlineData("I2", false, true, false)]
    [InlineData("I3", true, false, false)]
    [InlineData("I3", false, false, true)]
    [InlineData("I4", true, false, false)]
    [InlineData("I4", false, true, false)]
    public void NegativeControl_BrokenPromise_IsFoundByItsOracle(string invariant, bool lyingDisk, bool blindFence, bool raisedAcks)
    {
        var faults = new Faults
        {
            Kills = false, PowerLosses = false, LyingDisk = lyingDisk, BlindFence = blindFence, RaisedAcks = raisedAcks, Watched = Enum.Parse<Oracle>(invariant),
        };
        for (ulong seed = 1; seed <= 50; seed++)
        {
            try
            {
                new World(seed, faults).Run();
            }
            catch (SimulationFailure found)
            {
                Assert.Contains($"({invariant})", found.Message);
                return;
            }
        }
        Assert.Fail("fifty seeds with a planted fault, and none was found");
    }

    /// <summary>The same runs without the fault: it is the fault that is found.</summary>
    [Fact]
    public void NegativeControl_WithoutItsFault_FindsNothing()
    {
        for (ulong seed = 1; seed <= 10; seed++) new World(seed, new Faults { Kills = false, PowerLosses = false }).Run();
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
