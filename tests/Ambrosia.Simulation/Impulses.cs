using Ambrosia.TestKit;

// Impulses: what other threads of the source's app send to it and to the ledger, with keys and without, again after a crash, and what was
// said of their logging. The senders have chance of their own, so that worlds without them stay what they were.
namespace Ambrosia.Simulation;

public sealed partial class Source
{
    /// <summary>How often an impulse to this instance took effect, by its id.</summary>
    public readonly SortedDictionary<ulong, int> Marks = [];

    public void Mark(ulong id) => Marks[id] = Marks.GetValueOrDefault(id) + 1;

    /// <summary>Called outside of the handlers; completes when it is logged.</summary>
    internal Call Send(ulong id, string? key, bool toLedger) => (toLedger, key) switch
    {
        (true, null) => _ledger.NoteLogged(id),
        (true, _) => _ledger.WithKey(key).NoteLogged(id),
        (false, null) => thisProxy.MarkLogged(id),
        _ => thisProxy.WithKey(key).MarkLogged(id),
    };
}

/// <summary>The threads that send, in whichever process the source's app is, and what they know in the end.</summary>
internal sealed class ImpulseSenders(World world, ulong seed)
{
    /// <summary>Behind the ids of callers outside, who share the ledger's count of effects.</summary>
    private const ulong FirstId = 1_000_000;
    private const int Wanted = 100, BacklogMax = 1024;

    private readonly SimulatedRandom _random = new(seed ^ 0x1397);
    private readonly List<Impulse> _all = [], _unsettled = [];

    /// <summary>Impulses that their senders know to be logged, and further tries with their keys.</summary>
    public int Known => _all.Count(static each => each.IsKnown);

    public int Retries { get; private set; }

    /// <summary>All are made, each with a key is known to be logged, and of the others whatever will be known.</summary>
    public bool IsDone
    {
        get
        {
            if (_all.Count < Wanted) return false;
            _unsettled.RemoveAll(static each => each.IsKnown || (each.Key is null && each.IsLost));
            return _unsettled.Count == 0;
        }
    }

    /// <summary>It is their turn: decided by their own chance.</summary>
    public bool TakesTurn() => _random.Next(60) == 0;

    public void Step()
    {
        SimulatedApp[] open = [
            .. world.Source.Replicas.Select(static replica => replica.App).OfType<SimulatedApp>()
                .Where(static app => app.AcceptsImpulses && app.ImpulseBacklog < BacklogMax)];
        if (open.Length == 0) return;
        SimulatedApp app = _random.Pick(open);
        Impulse? earlier = _all.Count == 0 ? null : _random.Pick(_all.Count < Wanted || _unsettled.Count == 0 ? _all : _unsettled);
        if (earlier is { Key: not null } && ((earlier.IsLost && !earlier.IsKnown) || _random.Next(20) == 0)) Repeat(app, earlier);
        else if (_all.Count < Wanted) Begin(app);
    }

    /// <summary>
    /// Guarantee 2: nothing twice, and nothing lost that was said to be logged or that was sent again with its key until it was.
    /// </summary>
    public void Judge(Source source, Ledger ledger)
    {
        foreach (Impulse each in _all)
        {
            int effects = (each.GoesToLedger ? ledger.Effects : source.Marks).GetValueOrDefault(each.Id);
            if (effects > 1 || (each.IsKnown && effects == 0))
                throw new SimulationFailure(
                    $"impulse {each.Id}, sent {each.Tries} times, key {each.Key}, took effect {effects} times (I9)");
        }
    }

    private void Begin(SimulatedApp app)
    {
        ulong id = FirstId + (ulong)_all.Count;
        var impulse = new Impulse(id, _random.Next(2) == 0 ? $"i{id}" : null);
        _all.Add(impulse);
        _unsettled.Add(impulse);
        Send(app, impulse, impulse.Key);
    }

    private void Repeat(SimulatedApp app, Impulse earlier)
    {
        Retries++;
        Send(app, earlier, world.Faults.NewKeys ? $"{earlier.Key}again{Retries}" : earlier.Key);
    }

    private void Send(SimulatedApp app, Impulse impulse, string? key)
    {
        world.Trace($"impulse {impulse.Id} {key}");
        impulse.Sent(((Source)app.Immortal!).Send(impulse.Id, key, impulse.GoesToLedger).AsTask(), app);
    }

    /// <summary>One impulse, however often it was sent.</summary>
    /// <param name="key">Null: none.</param>
    private sealed class Impulse(ulong id, string? key)
    {
        private Task _last = Task.CompletedTask;
        private SimulatedApp? _from;
        private bool _wasKnown;

        public ulong Id => id;

        public string? Key => key;

        public bool GoesToLedger => id % 2 == 0;

        public int Tries { get; private set; }

        /// <summary>One of the tries is known to be logged.</summary>
        public bool IsKnown => _wasKnown || _last.IsCompletedSuccessfully;

        /// <summary>Nobody will know of the last try what became of it.</summary>
        public bool IsLost => _last.IsFaulted || _from is not { IsAlive: true };

        public void Sent(Task logged, SimulatedApp by)
        {
            _wasKnown = Tries > 0 && IsKnown;
            (_last, _from) = (logged, by);
            Tries++;
        }
    }
}
