using Ambrosia.Coordinator.Replica;
using Ambrosia.TestKit;

namespace Ambrosia.Simulation;

/// <summary>
/// Another build of the source's app, in some worlds: all its replicas are stopped and started with it. Either it does the same, and nobody
/// notices; or it makes one of the calls that the ledger has already had in another way. Then who executes that call again must end with 70
/// before the ledger hears of it, and the operator, who reads that line, puts the first build back.
/// </summary>
internal sealed class Builds
{
    private readonly World _world;
    private readonly SimulatedRandom _random;
    private readonly bool _change;
    private readonly DeadMarks _marks;
    private bool _hasChanged, _isPutBack;
    private TimeSpan _putBackAt;

    /// <summary>The call that the other build makes in another way; 0: none.</summary>
    private ulong _differsAt;

    public Builds(World world, ulong seed)
    {
        _world = world;
        _random = new SimulatedRandom(seed ^ 0xB11D);
        _marks = new DeadMarks(world, seed);
        _change = (world.Faults.Builds ?? _random.Next(5) == 0) && world.Faults.Kills && world.Deleted is null;
    }

    /// <summary>A process that begins now runs the other build.</summary>
    public bool IsOther(SimulatedReplica replica) => _hasChanged && !_isPutBack && replica.Id == _world.Source.Id;

    /// <summary>It ended because of the other build, and the first one is about to be put back.</summary>
    public bool IsToBePutBack(SimulatedReplica replica) => _hasChanged && replica.Id == _world.Source.Id && replica.IsOtherBuild;

    public void Step()
    {
        if (!_change) return;
        if (_hasChanged) Look();
        if (!_hasChanged) TryChange();
        else if (!_isPutBack && _world.Time.Elapsed > _putBackAt) PutBack("nothing was noticed");
        else if (!_isPutBack) _marks.Step();
    }

    /// <summary>A standby that has made the other call has a checkpoint, but for its name.</summary>
    private void Look()
    {
        foreach (SimulatedReplica replica in _world.Source.Replicas)
            if (replica is { HasDiffered: true, Coordinator: { HasLog: false, Checkpoints.Pipeline.AwaitsConfirmation: true } })
                _world.Saw("checkpoint of another build's replay");
    }

    /// <summary>The faults are over; whoever runs by then runs on.</summary>
    public void Clear()
    {
        if (_hasChanged && !_isPutBack) PutBack("the faults are over");
    }

    /// <summary>While calls are under way, so that much is left to do behind it.</summary>
    private void TryChange()
    {
        if (_world.Source.Primary is not { App: { IsPrimary: true, Immortal: Source } } primary
            || _world.Ledger.App?.Immortal is not Ledger { Count: > 12 } ledger) return;
        bool isOfMark = _marks.IsTime(primary, ledger.Count);
        if (!isOfMark && (ledger.Count <= 100 || _world.Faults.DeadMarks || _random.Next(2000) != 0)) return;
        bool differs = isOfMark || _random.Next(3) != 0;
        _differsAt = !differs ? 0 : isOfMark ? _marks.DiffersAt(ledger.Count)
            : _world.Faults.DiffersAhead ? ledger.Count + 40 : ledger.Count - (ulong)_random.Next(60);
        _hasChanged = true;
        if (!_world.Strikes.Strike($"another build, which {(differs ? $"differs at call {_differsAt}" : "does the same")}"))
        {
            _isPutBack = true;
            return;
        }
        _world.Trace($"the source runs another build, which {(differs ? $"differs at call {_differsAt}" : "does the same")}");
        _putBackAt = _world.Time.Elapsed + TimeSpan.FromMilliseconds(_random.Next(500, 20_000));
        foreach (SimulatedReplica replica in _world.Source.Replicas) replica.KillCoordinator();
        if (isOfMark) _marks.Died();
        if (differs) _world.Halts.Expect(_world.Source.Id, ExitCodes.Divergence);
        _world.Saw(differs ? "another build" : "another build that does the same");
    }

    /// <summary>A process of the source is about to end with 70, and takes back what is doubtful unless it is killed first.</summary>
    public void Leaves(SimulatedReplica replica)
    {
        if (replica.Coordinator is null || _random.Next(3) == 0) return;
        try
        {
            replica.Coordinator.Checkpoints.RemoveDoubtful();
        }
        catch (IOException failed)
        {
            _world.Trace($"{replica.Process} cannot remove its checkpoints: {failed.Message}");
        }
    }

    /// <summary>A process of the source has ended with 70.</summary>
    public void Diverged(SimulatedReplica replica)
    {
        if (!replica.IsOtherBuild)
            throw new SimulationFailure($"{replica.Process} runs the first build again and diverges from what the other one left (I8)");
        PutBack($"{replica.Process} has diverged");
    }

    /// <summary>All replicas run the first build again.</summary>
    private void PutBack(string why)
    {
        if (_isPutBack) return;
        _isPutBack = true;
        _world.Trace($"the source runs the first build again: {why}");
        foreach (SimulatedReplica replica in _world.Source.Replicas) replica.KillCoordinator();
    }

    /// <inheritdoc cref="DeadMarks.MustFollow"/>
    public bool MustFollow(SimulatedReplica replica) => _marks.MustFollow(replica);

    /// <inheritdoc cref="DeadMarks.Spares"/>
    public bool Spares(SimulatedInstance instance) => _marks.Spares(instance);

    /// <inheritdoc cref="DeadMarks.MayFind"/>
    public bool MayFind(SimulatedReplica standby) => _marks.MayFind(standby);

    /// <summary>What the app that runs makes of the value of a call.</summary>
    public ulong Made(ulong number, ulong value)
    {
        if (_differsAt == 0 || number != _differsAt || _world.Running is not { IsOtherBuild: true } replica) return value;
        replica.HasDiffered = true;
        return value ^ 1;
    }
}
