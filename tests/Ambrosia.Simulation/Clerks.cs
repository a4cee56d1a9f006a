// Further instances in some worlds, so that the ledger has several callers, whose calls are interleaved in its log, and calls them back.
namespace Ambrosia.Simulation;

/// <summary>Is called back for each call that it has made.</summary>
public interface IClerk
{
    Call Work();

    void Noted(ulong number);
}

/// <summary>Calls the ledger again and again, awaits each second answer, and counts what it is called back with.</summary>
public sealed partial class Clerk : Immortal<IClerkProxy>, IClerk
{
    public const ulong Wanted = 60;

    public ulong Made, Notes, Wrong;

    private readonly ILedgerProxy _ledger;

    public Clerk() => _ledger = GetProxy<ILedger>("ledger");

    public bool IsDone => Made == Wanted && Notes == Wanted;

    protected override void OnFirstStart() => thisProxy.WorkFork();

    public async Call Work()
    {
        while (Made < Wanted)
        {
            ulong number = ++Made;
            if (number % 2 == 0) _ledger.TallyFork(InstanceName, number);
            else if (await _ledger.TallyAsync(InstanceName, number) != number) Wrong++;
        }
    }

    public void Noted(ulong number)
    {
        if (number != ++Notes) Wrong++;
    }
}

public sealed partial class Ledger
{
    /// <summary>The calls of each clerk that took effect, and how many of them came out of their order.</summary>
    public readonly SortedDictionary<string, ulong> Tallies = new(StringComparer.Ordinal);

    public ulong Tallied, WrongTallies;

    public ulong Tally(string clerk, ulong number)
    {
        Tallied++;
        ulong tally = Tallies[clerk] = Tallies.GetValueOrDefault(clerk) + 1;
        if (tally != number) WrongTallies++;
        IClerkProxy caller = GetProxy<IClerk>(clerk);
        caller.NotedFork(number);
        return tally;
    }
}

/// <summary>The clerks of one world, and what is asked of them at its end. They have chance of their own.</summary>
internal sealed class Clerks
{
    private const int ClerksMax = 2;

    private readonly List<SimulatedInstance> _all = [];

    public Clerks(World world, ulong seed)
    {
        var random = new TestKit.SimulatedRandom(seed ^ 0xC1E4);
        // Whoever is deleted is forgotten by the source alone.
        if (!(world.Faults.Clerks ?? random.Next(4) == 0) || !world.Faults.Shapes) return;
        if (world.Deleted is not null || world.Lone is not null) return;
        for (int count = random.Next(1, ClerksMax + 1); _all.Count < count;)
            _all.Add(new SimulatedInstance(world, $"clerk{_all.Count + 1}", ImmortalDefinition.Of<Clerk>(), random.Next(3) == 0 ? 2 : 1));
        world.Saw(_all.Count == ClerksMax ? "four instances" : "three instances");
    }

    public IReadOnlyList<SimulatedInstance> All => _all;

    public bool AreAtRest => _all.TrueForAll(
        static clerk => clerk.IsQuiet && clerk.Living.All(static replica => replica.App?.Immortal is Clerk { IsDone: true }));

    public void Judge(Ledger ledger)
    {
        foreach (SimulatedInstance instance in _all)
        {
            ulong tallies = ledger.Tallies.GetValueOrDefault(instance.Id.Name);
            if (tallies != Clerk.Wanted)
                throw new SimulationFailure($"{instance.Id} has made {Clerk.Wanted} calls, {tallies} took effect (I1)");
            foreach (SimulatedReplica replica in instance.Living)
                if (((Clerk)replica.App!.Immortal!).Wrong is not 0 and var wrong)
                    throw new SimulationFailure($"{replica.Process} was told {wrong} times what is not true, or in another order (I15, I16)");
        }
        if (ledger.WrongTallies != 0) throw new SimulationFailure($"{ledger.WrongTallies} calls of clerks came in another order (I15)");
    }
}
