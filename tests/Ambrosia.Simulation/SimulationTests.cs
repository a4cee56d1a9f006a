using Ambrosia.Log.Format;
using Ambrosia.TestKit;

namespace Ambrosia.Simulation;

public sealed class SimulationTests
{
    /// <summary>
    /// How a fault may be met before its oracle sees it: with damage, with a peer's word, with a file that a rival has taken away, or only
    /// at the end, where a process went on from a checkpoint of the planted one.
    /// </summary>
    private static readonly string[] s_halts =
        [$": {nameof(LogDamage)}: ", ": FileNotFoundException: ", " was seen: a replaced primary ends",
            "applied in another order or with other values"];

    private static int Seeds => TestScale.Rounds(2000);

    [Fact]
    public void Cluster_CrashesAtAnyStep_AppliesEveryCallOnceInOrder()
    {
        int crashes = 0;
        var sights = new HashSet<string>(StringComparer.Ordinal);
        Worlds.Run(1, Seeds, static _ => new Faults(), world =>
        {
            crashes += world.Crashes;
            sights.UnionWith(world.Sights.Keys);
        });
        Assert.True(crashes > Seeds, $"only {crashes} crashes in {Seeds} seeds");
        Assert.Empty(Sights.All.Except(Sights.Rarest).Except(sights));
        Assert.Empty(sights.Except(Sights.All));
    }

    /// <summary>
    /// 337: two checkpoint marks were under way when the image for the first arrived. 8 and 60: a promoted secondary took a tail that was
    /// logged again, which is older than its segment, for torn (8) or for damaged (60). 474: two checkpoints of a session that had ended
    /// got their names while the next one replayed what they made it possible to remove.
    /// </summary>
    [Theory]
    [InlineData(8)]
    [InlineData(60)]
    [InlineData(337)]
    [InlineData(474)]
    public void Cluster_SeedThatFoundABug_Holds(ulong seed) => new World(seed, new Faults { Weather = false, Alone = false }).Run();

    /// <summary>
    /// Handlers that throw, under fork policies that change: what was set aside is the same in every execution, and no call is lost.
    /// </summary>
    [Fact]
    public void Cluster_HandlersThrowUnderChangingPolicies_SetAsideTheSame()
    {
        int stops = 0;
        ulong triedAgain = 0;
        Worlds.Run(5001, Seeds / 10, static _ => new Faults { Poison = true }, world =>
        {
            stops += world.Stops;
            triedAgain += world.TriedAgain;
        });
        Assert.True(stops > Seeds / 100 && triedAgain > (ulong)Seeds / 100,
            $"{stops} apps stopped, {triedAgain} messages tried again: too few to prove anything");
    }

    [Fact]
    public void NegativeControl_HandlersThatThrowByChance_AreFound()
    {
        for (ulong seed = 1; seed <= 50; seed++)
        {
            try
            {
                new World(seed, new Faults { Poison = true, Whim = true }).Run();
            }
            catch (SimulationFailure found) when (found.Message.Contains("L5.12", StringComparison.Ordinal))
            {
                return;
            }
        }
        Assert.Fail("fifty seeds with a planted fault, and none was found");
    }

    [Fact]
    public void Cluster_SameSeedTwice_TakesTheSameSteps() => Assert.Equal(TraceOf(4711), TraceOf(4711));

    [Fact]
    public void Worlds_BesideEachOther_TakeTheStepsThatTheyTakeAlone()
    {
        var traces = new Dictionary<ulong, ulong>();
        Worlds.Run(1, 8, static _ => new Faults(), world => traces.Add(world.Seed, world.TraceHash));

        Assert.Equal(8, traces.Count);
        Assert.All(traces, static each => Assert.Equal(TraceOf(each.Key), each.Value));
    }

    private static ulong TraceOf(ulong seed)
    {
        var world = new World(seed, new Faults());
        world.Run();
        return world.TraceHash;
    }

    [Fact]
    public void Worlds_SomeFail_TheLowestIsNamed()
    {
        SimulationFailure found = Assert.Throws<SimulationFailure>(static () => Worlds.Run(1, 20,
            static seed => new Faults { Deletes = true, Confuses = seed >= 3, Kills = false, PowerLosses = false }, static _ => { }));
        Assert.Contains("seed 3", found.Message);
    }

    /// <summary>
    /// Each oracle alone finds what it is there for (I23), in runs where nothing else can fail: processes die and power is lost only where
    /// that is what the fault is about. A world in which the fault is met with a loud halt (L8.2) says nothing of the
    /// oracle: the next one is tried.
    /// </summary>
    [Theory]
    [InlineData("I2", nameof(Faults.LyingDisk))]
    [InlineData("I2", nameof(Faults.BlindFence))]
    [InlineData("I3", nameof(Faults.LyingDisk))]
    [InlineData("I3", nameof(Faults.RaisedAcks))]
    [InlineData("I4", nameof(Faults.LyingDisk))]
    [InlineData("I4", nameof(Faults.BlindFence))]
    [InlineData("I10", nameof(Faults.ReadRepair))]
    [InlineData("I10", nameof(Faults.EagerSecondary))]
    [InlineData("I11", nameof(Faults.SharedClaims))]
    [InlineData("I11", nameof(Faults.ReadRepair))]
    [InlineData("I12", nameof(Faults.BlindFence))]
    [InlineData("F1", nameof(Faults.BlindFence))]
    [InlineData("F2", nameof(Faults.AmnesicDisk))]
    [InlineData("F3", nameof(Faults.LyingDisk))]
    [InlineData("F3", nameof(Faults.BlindFence))]
    [InlineData("I17", nameof(Faults.ForgedResults))]
    [InlineData("Due", nameof(Faults.FastTimers))]
    [InlineData("Build", nameof(Faults.DiffersAhead))]
    [InlineData("I19", nameof(Faults.WrongVersion))]
    public void NegativeControl_BrokenPromise_IsFoundByItsOracle(string invariant, string fault)
    {
        Faults faults = Planted(fault,
            new Faults { Kills = false, PowerLosses = false, TimersAndTasks = false, Watched = Enum.Parse<Oracle>(invariant) });
        for (ulong seed = 1; seed <= 50; seed++)
        {
            try
            {
                new World(seed, faults).Run();
            }
            catch (SimulationFailure halt) when (s_halts.Any(way => halt.Message.Contains(way, StringComparison.Ordinal))
                && !halt.Message.Contains($"({invariant})", StringComparison.Ordinal))
            {
            }
            catch (SimulationFailure found)
            {
                Assert.Contains($"({invariant})", found.Message);
                return;
            }
        }
        Assert.Fail("fifty seeds with a planted fault, and none was found");
    }

    private static Faults Planted(string fault, Faults faults) => fault switch
    {
        nameof(Faults.LyingDisk) => faults with { LyingDisk = true },
        nameof(Faults.BlindFence) => faults with { BlindFence = true },
        nameof(Faults.RaisedAcks) => faults with { RaisedAcks = true },
        nameof(Faults.ReadRepair) => faults with { ReadRepair = true },
        nameof(Faults.EagerSecondary) => faults with { EagerSecondary = true },
        nameof(Faults.SharedClaims) => faults with { SharedClaims = true, Replicas = true },
        nameof(Faults.ForgedResults) => faults with { ForgedResults = true, TimersAndTasks = true },
        nameof(Faults.FastTimers) => faults with { FastTimers = true, TimersAndTasks = true },
        nameof(Faults.DiffersAhead) => faults with { DiffersAhead = true, Kills = true, Builds = true },
        nameof(Faults.WrongVersion) => faults with { WrongVersion = true, Kills = true, Upgrades = true },
        nameof(Faults.AmnesicDisk) => faults with { AmnesicDisk = true, PowerLosses = true },
        _ => throw new ArgumentOutOfRangeException(nameof(fault), fault, "no such fault"),
    };

    /// <summary>
    /// Awaits, timers, tasks and callers under way, with checkpoints that hold them: whatever crashes, each call completes once.
    /// </summary>
    [Fact]
    public void SuspendedHandlers_InCheckpoints_GoOnOnce()
    {
        int continued = 0;
        Worlds.Run(1, Math.Max(10, TestScale.Rounds(200)),
            static seed => new Faults { Chains = true, TimersAndTasks = seed % 2 == 0, Caller = seed % 3 == 0 },
            world => continued += world.Continued);
        Assert.True(continued > 30, $"{continued} images with suspended handlers were restored: they prove nothing");
    }

    /// <summary>
    /// Negative control: what a handler keeps outside of its locals and the state is gone behind a checkpoint, and that is found.
    /// </summary>
    [Fact]
    public void NegativeControl_StateOutsideTheImage_IsFound()
    {
        SimulationFailure found = Assert.Throws<SimulationFailure>(static () =>
        {
            for (ulong seed = 1; seed <= 50; seed++) new World(seed, new Faults { Chains = true, KeepsOutside = true }).Run();
        });
        Assert.Matches(@"\((I16|I8)\)|image|digest", found.Message);
    }

    /// <summary>Callers outside in every world: what they were told is true, and worth something.</summary>
    [Fact]
    public void Caller_CrashesAtAnyStep_WasToldTheTruth()
    {
        int retries = 0, answers = 0;
        Worlds.Run(1, Math.Max(10, TestScale.Rounds(200)), static _ => new Faults { Caller = true }, world =>
        {
            retries += world.Caller!.Retries;
            answers += world.Caller.Answers;
        });
        Assert.True(retries > 50 && answers > 300, $"{retries} retries and {answers} answers prove nothing");
    }

    /// <summary>
    /// A ledger that is lost for good in the middle of it all, and its successor: who has the name then is served from
    /// number 1, once and in order.
    /// </summary>
    [Fact]
    public void Ledger_DeletedAndForgotten_SuccessorIsServedFromNumberOne()
    {
        int forgotten = 0, refusals = 0, seeds = Math.Max(60, TestScale.Rounds(300)); // fewer worlds differ too much from each other
        Worlds.Run(1, seeds, static _ => new Faults { Deletes = true }, world =>
        {
            refusals += world.Deleted!.Refusals;
            if (world.Deleted.IsForgotten) forgotten++;
        });
        Assert.True(forgotten == seeds && refusals * 3 > seeds,
            $"{forgotten} of {seeds} forgotten, {refusals} hellos refused before: too few to prove anything");
    }

    /// <summary>Negative control: whoever takes the successor for the one who was lost is found.</summary>
    [Fact]
    public void NegativeControl_SuccessorTakenForTheOldOne_IsFound()
    {
        SimulationFailure found = Assert.Throws<SimulationFailure>(
            static () => new World(1, new Faults { Deletes = true, Confuses = true, Kills = false, PowerLosses = false }).Run());
        Assert.Contains("(I16)", found.Message);
    }

    /// <summary>
    /// The ledger's version is raised in every world, by a replica beside the primary or alone, while others are of the old version: it
    /// comes into force once, and below and behind it each version executes what is its own.
    /// </summary>
    [Fact]
    public void Upgrade_CrashesAtAnyStep_ComesIntoForceOnce()
    {
        int upgraded = 0, seeds = Math.Max(20, TestScale.Rounds(200));
        Worlds.Run(1, seeds, static _ => new Faults { Upgrades = true, Alone = false, Deletes = false },
            world => upgraded += world.Oracles.Versions.IsUpgraded(world.Ledger.Id) ? 1 : 0);
        Assert.True(upgraded * 2 > seeds, $"{upgraded} of {seeds} worlds were upgraded: too few to prove anything");
    }

    /// <summary>
    /// 20 and 100: a replica of the old version found a checkpoint of the new one before it had read of the upgrade, and took the log for
    /// damaged, where its version is not in force any more.
    /// </summary>
    [Theory]
    [InlineData(20)]
    [InlineData(100)]
    public void Upgrade_SeedThatFoundABug_Holds(ulong seed) => new World(seed, new Faults { Upgrades = true }).Run();

    /// <summary>Impulses of the app's own threads, to itself and to another, in every world.</summary>
    [Fact]
    public void Impulses_CrashesAtAnyStep_TakeEffectOnceWhenTheyAreKnown()
    {
        int known = 0, retries = 0;
        Worlds.Run(1, Math.Max(10, TestScale.Rounds(200)), static _ => new Faults { Impulses = true }, world =>
        {
            known += world.Senders!.Known;
            retries += world.Senders.Retries;
        });
        Assert.True(retries > 50 && known > 500, $"{known} impulses that are known to be logged and {retries} retries prove nothing");
    }

    /// <summary>Negative control: a key that changes with each try is found by I9, for callers outside and for impulses alike.</summary>
    [Theory]
    [InlineData(true, false)]
    [InlineData(false, true)]
    public void NegativeControl_NewKeys_AreFound(bool caller, bool impulses)
    {
        SimulationFailure found = Assert.Throws<SimulationFailure>(() =>
        {
            for (ulong seed = 1; seed <= 50; seed++)
                new World(seed, new Faults { Caller = caller, Impulses = impulses, NewKeys = true }).Run();
        });
        Assert.Contains("(I9)", found.Message);
    }

    /// <summary>No oracle without a control.</summary>
    [Fact]
    public void NegativeControl_OfEachOracle_IsThere()
    {
        string[] controlled = [.. typeof(SimulationTests).GetMethod(nameof(NegativeControl_BrokenPromise_IsFoundByItsOracle))!
            .GetCustomAttributesData().Where(static a => a.AttributeType == typeof(InlineDataAttribute))
            .Select(
                static a =>
                    (string)((IReadOnlyList<System.Reflection.CustomAttributeTypedArgument>)a.ConstructorArguments[0].Value!)[0].Value!)
                    .Distinct()];
        Assert.Equal(
            Enum.GetValues<Oracle>().Where(static o => o is not (Oracle.None or Oracle.All)).Select(static o => o.ToString()).Order(),
            controlled.Order());
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
