// Impulses: what other threads of the source's app send to it and to the ledger, with keys and without, again after a crash, and what was said of their
// logging. The senders have chance of their own, so that worlds without them stay what they were.
using Ambrosia.TestKit;

namespace Ambrosia.Simulation;

public sealed partial class Source
{
    /// <summary>How often an impulse to this instance took effect, by its id.</summary>
    public readonly SortedDictionary<ulong, int> Marks = [];

    public void Mark(ulong id) => Marks[id] = Marks.GetValueOrDefault(id) + 1;

    /// <summary>Called outside of the handlers; completes when it is logged.</summary>
    internal Call Send(ulong id, string? key, bool toLedger) => (toLedger, key) switch
    {
        (true, null) => ledger.NoteAsync(id),
        (true, _) => ledger.NoteAsync(key, id),
        (false, null) => thisProxy.MarkAsync(id),
        _ => thisProxy.MarkAsync(key, id),
    };
}

/// <summary>The threads that send, in whichever process the source's app is, and what they know in the end.</summary>
internal sealed class ImpulseSenders(World world, ulong seed)
{
    /// <summary>Behind the ids of callers outside, who share the ledger's count of effects.</summary>
    private const ulong FirstId = 1_000_000;
    private const int Wanted = 100, BacklogMax = 1024;

    private readonly SimulatedRandom random = new(seed ^ 0x1397);
    private readonly List<Sent> all = [];
    private ulong made;

    /// <summary>One try.</summary>
    /// <param name="Key">Null: none.</param>
    private sealed record Sent(ulong Id, string? Key, Task Logged, SimulatedApp From);

    /// <summary>Impulses that their senders know to be logged, and further tries with their keys.</summary>
    public int Known => all.Count(static each => each.Logged.IsCompletedSuccessfully);

    public int Retries { get; private set; }

    /// <summary>All are made, each with a key is known to be logged, and of the others whatever will be known.</summary>
    public bool IsDone => made == Wanted && all.GroupBy(static each => each.Id).All(static tries =>
        tries.Any(static each => each.Logged.IsCompletedSuccessfully) || tries.All(static each => each.Key is null && (each.Logged.IsCompleted || !each.From.IsAlive)));

    /// <summary>It is their turn: decided by their own chance.</summary>
    public bool TakesTurn() => random.Next(60) == 0;

    public void Step()
    {
        SimulatedApp[] open = [.. world.Source.Replicas.Select(static replica => replica.App).OfType<SimulatedApp>().Where(static app => app.AcceptsImpulses && app.ImpulseBacklog < BacklogMax)];
        if (open.Length == 0) return;
        SimulatedApp app = random.Pick(open);
        Sent? earlier = all.Find(each => each.Key is not null && (IsLost(each) || random.Next(200) == 0));
        if (earlier is not null) Repeat(app, earlier);
        else if (made < Wanted) Send(app, FirstId + ++made, random.Next(2) == 0 ? $"i{made}" : null);
    }

    /// <summary>Guarantee 2: nothing twice, and nothing lost that was said to be logged or that was sent again with its key until it was.</summary>
    public void Judge(Source source, Ledger ledger)
    {
        foreach (IGrouping<ulong, Sent> tries in all.GroupBy(static each => each.Id))
        {
            int effects = (GoesToLedger(tries.Key) ? ledger.Effects : source.Marks).GetValueOrDefault(tries.Key);
            bool isKnown = tries.Any(static each => each.Logged.IsCompletedSuccessfully);
            if (effects > 1 || (isKnown && effects == 0)) throw new SimulationFailure($"impulse {tries.Key}, sent {tries.Count()} times, key {tries.First().Key}, took effect {effects} times (I9)");
        }
    }

    private static bool GoesToLedger(ulong id) => id % 2 == 0;

    /// <summary>Nobody knows of it, and nobody will.</summary>
    private bool IsLost(Sent last) => all.FindLast(each => each.Id == last.Id) is { Logged.IsCompletedSuccessfully: false } latest
        && (!latest.From.IsAlive || latest.Logged.IsFaulted) && !all.Exists(each => each.Id == last.Id && each.Logged.IsCompletedSuccessfully);

    private void Repeat(SimulatedApp app, Sent earlier)
    {
        Retries++;
        Send(app, earlier.Id, world.Faults.NewKeys ? $"{earlier.Key}again{Retries}" : earlier.Key);
    }

    private void Send(SimulatedApp app, ulong id, string? key)
    {
        world.Trace($"impulse {id} {key}");
        all.Add(new Sent(id, key, ((Source)app.Immortal!).Send(id, key, GoesToLedger(id)).AsTask(), app));
    }
}
