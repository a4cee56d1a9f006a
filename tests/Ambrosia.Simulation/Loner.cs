// Worlds of one instance: it calls itself and sleeps, and nobody else is there. What peers notice elsewhere nobody can notice here.
using Ambrosia.TestKit;

namespace Ambrosia.Simulation;

/// <summary>Calls itself, from several handlers at once.</summary>
public interface ILoner
{
    Call Work(ulong lane);

    ulong Step(ulong lane, ulong number);
}

/// <summary>Keeps the order of each lane's calls, and what was answered.</summary>
public sealed partial class Loner : Immortal<ILonerProxy>, ILoner
{
    public const ulong Lanes = 4, Rounds = 60;

    /// <summary>Each so manyth call is made once more, and nobody waits for it.</summary>
    private const ulong ForkEvery = 4;

    public readonly SortedDictionary<ulong, ulong> Last = [];

    public ulong Steps, Ended, Wrong, Hash;

    public bool IsDone => Ended == Lanes && Steps == Lanes * (Rounds + Rounds / ForkEvery);

    public async Call Work(ulong lane)
    {
        for (ulong round = 1; round <= Rounds; round++)
        {
            if (Random.Next(3) == 0) await Delay(TimeSpan.FromMilliseconds(Random.Next(0, 80)));
            if (round % ForkEvery == 0) thisProxy.StepFork(lane, round);
            if (await thisProxy.StepAsync(lane, round) != Ledger.Mix(lane, round)) Wrong++;
        }
        Ended++;
    }

    public ulong Step(ulong lane, ulong number)
    {
        Steps++;
        ulong last = Last.GetValueOrDefault(lane);
        if (number != last + 1 && number != last) Wrong++;
        Last[lane] = number;
        Hash = Ledger.Mix(Ledger.Mix(Hash, lane), number);
        return Ledger.Mix(lane, number);
    }

    protected override void OnFirstStart()
    {
        for (ulong lane = 1; lane <= Lanes; lane++) thisProxy.WorkFork(lane);
    }
}

/// <summary>The one instance of a world in which there is no other, and what is asked of it at its end.</summary>
internal sealed class LoneInstance
{
    private const int WorldsOneIn = 12;

    public LoneInstance(World world, ulong seed)
    {
        var random = new SimulatedRandom(seed ^ 0x10E);
        Instance = new SimulatedInstance(world, "loner", ImmortalDefinition.Of<Loner>(), random.Next(1, 4));
    }

    /// <summary>Says whether the world of this seed has one instance alone. Whoever asks for others has them.</summary>
    public static bool IsDrawn(Faults faults, ulong seed) => faults.Alone ??
        (faults is { Shapes: true, Caller: null, Impulses: null, Chains: null, Clerks: null, Poison: null, Deletes: null }
            && faults is { Builds: null, Rot: null } && new SimulatedRandom(seed ^ 0xA10E).Next(WorldsOneIn) == 0);

    public SimulatedInstance Instance { get; }

    public bool IsAtRest => Instance.IsQuiet && Instance.Living.All(static replica => replica.App?.Immortal is Loner { IsDone: true });

    public string Describe() =>
        $"loner {(Instance.App?.Immortal as Loner)?.Steps} calls, {(Instance.App?.Immortal as Loner)?.Ended} lanes ended, quiet {Instance.IsQuiet}";

    public void Judge()
    {
        var primary = (Loner)Instance.App!.Immortal!;
        foreach (SimulatedReplica replica in Instance.Living)
        {
            var loner = (Loner)replica.App!.Immortal!;
            if (loner.Wrong != 0)
                throw new SimulationFailure($"{replica.Process} was called or answered {loner.Wrong} times as it must not be (I15, I16)");
            if (loner.Hash != primary.Hash) throw new SimulationFailure("two replicas have executed the same calls and differ (I8)");
        }
    }
}
