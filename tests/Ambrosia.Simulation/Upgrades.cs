using Ambrosia.Coordinator.Replica;
using Ambrosia.Session;
using Ambrosia.TestKit;

namespace Ambrosia.Simulation;

/// <summary>
/// A new version of the ledger's app, in a fifth of the worlds: in the middle of it all an operator starts a replica that is to upgrade the
/// log, and the others as replicas of both versions or of the old one alone. Whoever meets the new version and lacks it ends with 76, and
/// is started with both from then on.
/// </summary>
internal sealed class Upgrades
{
    public const uint From = 1, To = 2;

    private readonly World _world;
    private readonly SimulatedRandom _random;
    private readonly bool _change;
    private readonly Dictionary<SimulatedReplica, AppKind> _kinds = [];
    private readonly TimeSpan _limit;
    private bool _hasBegun;

    /// <summary>What the app of a replica carries, and whether its coordinator is to make the upgrade.</summary>
    private enum AppKind { Old, Both, Upgrader }

    public Upgrades(World world, ulong seed)
    {
        _world = world;
        _random = new SimulatedRandom(seed ^ 0x0B9D);
        _limit = TimeSpan.FromSeconds(_random.Next(4) == 0 ? 5 : 300); // a short one is given up where the world is slow
        _change = (world.Faults.Upgrades ?? (_random.Next(5) == 0 && world.Faults.Kills)) && world.Deleted is null && world.Lone is null;
    }

    private AppKind KindOf(SimulatedReplica replica) => _kinds.GetValueOrDefault(replica);

    /// <summary>What the coordinator of a process that begins now is to do about the version.</summary>
    public UpgradeOptions? OptionsOf(SimulatedReplica replica) =>
        KindOf(replica) == AppKind.Upgrader ? new UpgradeOptions(To) { Within = TimeSpan.FromDays(1), Limit = _limit } : null;

    /// <summary>What an app that begins now says that it can execute.</summary>
    public SessionOptions Of(SimulatedReplica replica, SessionOptions options) => KindOf(replica) == AppKind.Old ? options
        : options with
        {
            AppVersion = To,
            Former = new FormerVersion(ImmortalDefinition.Of<Ledger>(), From, Convert) { Successor = typeof(Ledger) },
        };

    private static Ledger Convert(Immortal old)
    {
        var made = (Ledger)ConversionByNames.Of(typeof(Ledger), typeof(Ledger))(old);
        made.Version = To;
        return made;
    }

    /// <summary>Begins it while calls are under way, so that there is something below it, and much is left to do behind it.</summary>
    public void Step()
    {
        if (_change && !_hasBegun && _world.Ledger.App is { IsPrimary: true, Immortal: Ledger { Count: > 3 } } && _random.Next(60) == 0)
            Begin();
    }

    /// <summary>The faults are over; in most worlds much of the work is still to be done.</summary>
    public void Clear()
    {
        if (_change && !_hasBegun) Begin();
    }

    private void Begin()
    {
        _hasBegun = true;
        if (!_world.Strikes.Strike("an upgrade of the ledger")) return;
        SimulatedReplica first = _random.Pick(_world.Ledger.Replicas);
        foreach (SimulatedReplica replica in _world.Ledger.Replicas)
            _kinds[replica] = replica == first ? AppKind.Upgrader : (AppKind)_random.Next(3);
        _world.Trace($"the ledger is to be upgraded: {string.Join(", ", _kinds.Select(static each => $"{each.Key.Name} {each.Value}"))}");
        foreach ((SimulatedReplica replica, AppKind kind) in _kinds)
            if (kind != AppKind.Old) replica.KillCoordinator();
    }

    /// <summary>A process has ended since its app lacks the version of the log; false: nobody upgrades it.</summary>
    public bool TryTakeOld(SimulatedReplica replica)
    {
        if (KindOf(replica) != AppKind.Old || !_kinds.ContainsValue(AppKind.Upgrader)) return false;
        _kinds[replica] = AppKind.Both;
        _world.Saw("old version ended");
        return true;
    }

    /// <summary>Hears what a coordinator tells operators.</summary>
    public void Logged(string line)
    {
        if (line.Contains(" upgrade.done ", StringComparison.Ordinal)) _world.Saw("upgraded");
        else if (line.Contains(" upgrade.given.up ", StringComparison.Ordinal)) _world.Saw("upgrade given up");
        else if (line.Contains(" upgrade.rehearsed ", StringComparison.Ordinal)) _world.Saw("upgrade rehearsed");
    }

    /// <summary>Everything has come to rest: every replica is of the version that the log is of, and it came into force once.</summary>
    public void Judge(Ledger ledger)
    {
        bool isUpgraded = _world.Oracles.Versions.IsUpgraded(_world.Ledger.Id);
        (ulong version, ulong times) = isUpgraded ? (To, 1UL) : (From, 0UL);
        foreach (SimulatedReplica replica in _world.Ledger.Living)
        {
            var state = (Ledger)replica.App!.Immortal!;
            if ((state.Version, state.Upgraded, state.Noted) != (version, times, times))
                throw new SimulationFailure(
                    $"{replica.Process} is of version {state.Version}, upgraded {state.Upgraded} times and told {state.Noted} times of it, in a log of version {version} (I19)");
        }
        if (ledger.Version != version) throw new SimulationFailure($"the primary is of version {ledger.Version} (I19)");
    }
}
