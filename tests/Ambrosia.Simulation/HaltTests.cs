using Ambrosia.TestKit;

namespace Ambrosia.Simulation;

/// <summary>Worlds whose fault must halt, and the shrinking of worlds that fail.</summary>
public sealed class HaltTests
{
    private static readonly Faults s_deadMarks = FaultKinds.With(new Faults(), "dead-marks");

    private static readonly Faults s_hungDisks = new() { Replicas = true, HungDisks = true, Rot = false, Builds = false };

    /// <summary>
    /// 3: a bit that flipped in the outputs on disk got into a checkpoint, which could not be restored, and would have got to the peer.
    /// </summary>
    [Theory]
    [InlineData(3)]
    public void Damage_SeedThatFoundABug_Holds(ulong seed) => new World(seed, new Faults { Rot = true }).Run();

    [Fact]
    public void Damage_AnywhereThatWasFlushed_HaltsOrDoesNotMatter() => AssertMeets(new Faults { Rot = true },
        "damage in a segment", "damage in a checkpoint", "exit 65", "damage where nothing is needed");

    /// <summary>
    /// Negative control: where the log states nothing a reader cuts what is damaged, as it must, and what was acknowledged of it is lost.
    /// The oracles find that.
    /// </summary>
    [Fact]
    public void NegativeControl_DamageThatIsTakenForATornTail_IsFound() =>
        AssertFound(new Faults { Rot = true, RotsTail = true, Builds = false },
            "(I2)", "(I3)", "(I4)", "(F2)", "(F3)", "(I12)", "P6.5", "P6.4");

    [Fact]
    public void Build_ThatMakesACallInAnotherWay_EndsBeforeAnybodyHearsOfIt() =>
        AssertMeets(new Faults { Builds = true, Rot = false }, "another build", "another build that does the same", "exit 70");

    /// <summary>
    /// 77000474: a standby of another build answered the mark of a dead primary out of its replay, and the first build, put back, began
    /// with that and ended with 70 for ever.
    /// </summary>
    [Theory]
    [InlineData(77000474)]
    public void Build_SeedThatFoundABug_Holds(ulong seed) => new World(seed, new Faults()).Run();

    /// <summary>
    /// A standby of another build answers the mark of a dead primary out of its replay: what it makes of it is never begun with.
    /// </summary>
    [Fact]
    public void Build_StandbyReplaysPastTheMarkOfADeadPrimary_LeavesNoState() =>
        AssertMeets(150, s_deadMarks, "checkpoint of another build's replay");

    /// <summary>Negative control: such a checkpoint gets its name at once, and every later start begins with it.</summary>
    [Fact]
    public void NegativeControl_CheckpointThatNothingConfirmed_IsFound() =>
        AssertFound(150, s_deadMarks with { HastyNames = true }, "diverges from what the other one left (I8)");

    /// <summary>Files that stay unreadable, names that lead nowhere, and a system that gives nothing for a while, in every world.</summary>
    [Fact]
    public void Faults_ThatLast_EndWithTheCodeThatIsCalledFor() =>
        AssertMeets(100, new Faults { BadSectors = true, Ghosts = true, Scarcity = true },
            "bad sector in a checkpoint", "bad sector in a segment", "newest segment leads nowhere", "stale listing of a segment",
            "stale listing of a checkpoint", "no descriptors", "no memory", "exit 65", "exit 71", "checkpoint waits for the system");

    /// <summary>Negative control: a process that takes each of these for a failure of its disk ends with 74.</summary>
    [Theory]
    [InlineData(true, "damage of that file alone (65)")]
    [InlineData(false, "says nothing of the disk (71)")]
    public void NegativeControl_ErrorsWithoutTheirNumbers_AreFound(bool ofFiles, string how) =>
        AssertFound(new Faults { BadSectors = ofFiles, Ghosts = false, Scarcity = !ofFiles, Rot = false, LostNumbers = true }, how);

    /// <summary>
    /// Negative control: a planted fault is shrunk to fewer kinds and faults, and what is left still fails by the same oracle.
    /// </summary>
    [Fact]
    public void Shrinking_WorldThatFails_LeavesLittleAndFailsAlike()
    {
        var lines = new List<string>();
        var planted = new Faults { LyingDisk = true, Watched = Oracle.I4 };
        ulong seed = FirstFailing(planted, "(I4)");
        var shrinking = new Shrinking(seed, planted, lines.Add);

        Assert.True(shrinking.Run());

        Assert.True(shrinking.Left.Count <= 3, $"{shrinking.Left.Count} faults are left: {shrinking.Command}");
        Assert.Contains("weather", shrinking.Off);
        Faults left = shrinking.Off.Aggregate(planted, FaultKinds.Without) with { Chosen = FaultChoice.Only(shrinking.Left) };
        Assert.Contains("(I4)", Assert.Throws<SimulationFailure>(() => new World(seed, left).Run()).Message);
    }

    /// <summary>Negative control: a primary that takes each replica for its successor that holds its lock.</summary>
    [Fact]
    public void NegativeControl_SuccessorThatStandsStill_IsFound() =>
        AssertFound(new Faults { Replicas = true, WishfulMoves = true }, "(P9.8)");

    /// <summary>Negative control: standbys that never see that a primary stands still.</summary>
    [Fact]
    public void NegativeControl_StandbyThatWaitsForEver_IsFound() =>
        AssertFound(new Faults { Replicas = true, PatientStandbys = true, Rot = false, Builds = false }, "has not taken over (I22)");

    /// <summary>A disk that hangs under the space pump, again and again: each primary that cannot go on is replaced.</summary>
    [Fact]
    public void HungDisk_LongerThanTheLimit_LeadsToATakeOver() =>
        AssertMeets(s_hungDisks, "primary stands still");

    /// <summary>
    /// Negative control: a primary that beats on while its disk hangs under the space pump. It is found where it runs out of prepared space
    /// and a standby stays sound for so long, so little else happens: then in one world of seven.
    /// </summary>
    [Fact]
    public void NegativeControl_PrimaryThatBeatsOnAHungDisk_IsFound() => AssertFound(
        s_hungDisks with
        {
            BeatsOnAHungDisk = true, PowerLosses = false, BrokenLinks = false, Weather = false, Clocks = false, Catalog = false,
            Operators = false, BadSectors = false, Ghosts = false, Scarcity = false, Upgrades = false, TimersAndTasks = false,
            Poison = false,
        },
        "has not taken over (I22)");

    /// <summary>Negative control: a process that ends with 74 where no fault has hit its log.</summary>
    [Fact]
    public void NegativeControl_ExitThatNothingCalledFor_IsFound() => AssertFound(new Faults { MoodyDisk = true }, "(74)", "exits with 74");

    /// <summary>Negative control: a world in which somebody waits for ever is found by the bound of time.</summary>
    [Fact]
    public void NegativeControl_PeerThatIsNeverDialledAgain_IsFound() =>
        AssertFound(new Faults { GivesUp = true, Catalog = false }, "(I22)");

    [Fact]
    public void Shrinking_WorldThatHolds_HasNothingToDo() => Assert.False(new Shrinking(1, new Faults(), static _ => { }).Run());

    [Theory]
    [InlineData("3,7-9", new[] { 3, 7, 8, 9 })]
    [InlineData("", new int[0])]
    public void FaultChoice_AsWritten_IsRead(string text, int[] numbers) => Assert.Equal(numbers, FaultChoice.Read(text));

    /// <summary>
    /// Runs worlds of the faults, and more of them until all sights were met: what is never met proves nothing, and which seeds meet it
    /// changes with each change of the code.
    /// </summary>
    private static void AssertMeets(Faults faults, params string[] sights) => AssertMeets(250, faults, sights);

    private static void AssertMeets(int worldsOfARelease, Faults faults, params string[] sights)
    {
        int worlds = TestScale.Rounds(worldsOfARelease), run = 0;
        var met = new HashSet<string>();
        do
        {
            Worlds.Run(1 + (ulong)run, worlds, _ => faults, world => met.UnionWith(world.Sights.Keys));
            run += worlds;
        } while (!met.IsSupersetOf(sights) && run < worldsOfARelease);
        Assert.True(met.IsSupersetOf(sights), $"{string.Join(" and ", sights.Except(met))}: never met in {run} worlds, which proves nothing");
    }

    private static ulong FirstFailing(Faults faults, string how)
    {
        for (ulong seed = 1; seed <= 50; seed++)
        {
            try
            {
                new World(seed, faults).Run();
            }
            catch (SimulationFailure found) when (found.Message.Contains(how, StringComparison.Ordinal))
            {
                return seed;
            }
            catch (SimulationFailure)
            {
            }
        }
        throw new InvalidOperationException("fifty seeds with a planted fault, and none was found");
    }

    private static void AssertFound(Faults faults, params string[] ways) => AssertFound(60, faults, ways);

    private static void AssertFound(ulong worlds, Faults faults, params string[] ways)
    {
        for (ulong seed = 1; seed <= worlds; seed++)
        {
            SimulationFailure? failure = Record.Exception(() => new World(seed, faults).Run()) as SimulationFailure;
            if (failure is not null && ways.Any(way => failure.Message.Contains(way, StringComparison.Ordinal))) return;
            if (failure is not null) Assert.Fail(failure.Message.Split('\n')[0]);
        }
        Assert.Fail($"{worlds} seeds with a planted fault, and none was found");
    }
}
