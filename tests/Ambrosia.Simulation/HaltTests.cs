using Ambrosia.TestKit;

namespace Ambrosia.Simulation;

/// <summary>Worlds whose fault must halt, and the shrinking of worlds that fail.</summary>
public sealed class HaltTests
{
    /// <summary>
    /// 3: a bit that flipped in the outputs on disk got into a checkpoint, which could not be restored, and would have got to the peer.
    /// </summary>
    [Theory]
    [InlineData(3)]
    public void Damage_SeedThatFoundABug_Holds(ulong seed) => new World(seed, new Faults { Rot = true }).Run();

    [Fact]
    public void Damage_AnywhereThatWasFlushed_HaltsOrDoesNotMatter()
    {
        Dictionary<string, int> met = Met(TestScale.Rounds(250), new Faults { Rot = true });
        foreach (string sight in (string[])["damage in a segment", "damage in a checkpoint", "exit 65", "damage where nothing is needed"])
            Assert.True(met.GetValueOrDefault(sight) > 0, $"{sight} was never met: this proves nothing");
    }

    /// <summary>
    /// Negative control: where the log states nothing a reader cuts what is damaged, as it must, and what was acknowledged of it is lost.
    /// The oracles find that.
    /// </summary>
    [Fact]
    public void NegativeControl_DamageThatIsTakenForATornTail_IsFound() =>
        AssertFound(new Faults { Rot = true, RotsTail = true, Builds = false },
            "(I2)", "(I3)", "(I4)", "(F2)", "(F3)", "(I12)", "P6.5", "P6.4");

    [Fact]
    public void Build_ThatMakesACallInAnotherWay_EndsBeforeAnybodyHearsOfIt()
    {
        Dictionary<string, int> met = Met(TestScale.Rounds(250), new Faults { Builds = true, Rot = false });
        foreach (string sight in (string[])["another build", "another build that does the same", "exit 70"])
            Assert.True(met.GetValueOrDefault(sight) > 0, $"{sight} was never met: this proves nothing");
    }

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

    private static Dictionary<string, int> Met(int seeds, Faults faults)
    {
        var met = new Dictionary<string, int>();
        Worlds.Run(1, seeds, _ => faults, world =>
        {
            foreach (string sight in world.Sights.Keys) met[sight] = met.GetValueOrDefault(sight) + 1;
        });
        return met;
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

    private static void AssertFound(Faults faults, params string[] ways)
    {
        for (ulong seed = 1; seed <= 60; seed++)
        {
            SimulationFailure? failure = Record.Exception(() => new World(seed, faults).Run()) as SimulationFailure;
            if (failure is not null && ways.Any(way => failure.Message.Contains(way, StringComparison.Ordinal))) return;
            if (failure is not null) Assert.Fail(failure.Message.Split('\n')[0]);
        }
        Assert.Fail("sixty seeds with a planted fault, and none was found");
    }
}
