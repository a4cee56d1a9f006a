using Ambrosia.TestKit;
using Ambrosia.TestKit.Catalogs;
using CRA.Catalog;

namespace Ambrosia.Simulation;

/// <summary>
/// The catalog of a world, in a third of the worlds: primaries publish where they are, peers are dialled where it says, and now and then it
/// cannot be reached, or whoever asks it hangs. In the other worlds everybody knows where everybody is. Chance of its own.
/// </summary>
internal sealed class Catalogs
{
    private readonly World _world;
    private readonly SimulatedRandom _random;
    private readonly InMemoryCatalog _store;
    private TimeSpan _hangsUntil, _downUntil;

    public Catalogs(World world, ulong seed)
    {
        _world = world;
        _random = new SimulatedRandom(seed ^ 0xCA7A);
        _store = new InMemoryCatalog(bytes => _random.NextBytes(bytes));
        IsUsed = _random.Next(3) == 0 && world.Faults.Catalog && world.Deleted is null;
    }

    public bool IsUsed { get; }

    public ICatalog Store => _store;

    /// <summary>Whoever asks now gets no answer before it has come to itself.</summary>
    public bool Hangs => !_world.IsCalm && _world.Time.Elapsed < _hangsUntil;

    public void Step()
    {
        if (!IsUsed) return;
        if (_store.IsDown && _world.Time.Elapsed >= _downUntil) _store.IsDown = false;
        if (_random.Next(2000) != 0) return;
        bool hangs = _random.Next(2) == 0;
        TimeSpan span = TimeSpan.FromMilliseconds(_random.Next(100, 12_000));
        if (!_world.Strikes.Strike($"the catalog {(hangs ? "hangs" : "cannot be reached")} for {span}")) return;
        _world.Trace($"the catalog {(hangs ? "hangs" : "cannot be reached")} for {span}");
        _world.Saw(hangs ? "catalog hangs" : "catalog down");
        if (hangs) _hangsUntil = _world.Time.Elapsed + span;
        else (_store.IsDown, _downUntil) = (true, _world.Time.Elapsed + span);
    }

    /// <summary>It works again.</summary>
    public void Clear() => _store.IsDown = false;
}
