using Ambrosia.Coordinator.Checkpoints;
using Ambrosia.Log.Checkpoints;
using Ambrosia.Protocol;
using Ambrosia.TestKit;

namespace Ambrosia.Simulation;

/// <summary>
/// The moment at which another build of the source does most harm: the primary has logged a checkpoint mark that asks a standby, and dies,
/// with everybody else, before it is answered. The same replica comes back first, of the other build and as a standby that reads nothing
/// new, and replays past the mark. Whatever it makes of it must get no name. It has chance of its own.
/// </summary>
internal sealed class DeadMarks
{
    private readonly World _world;
    private readonly SimulatedRandom _random;
    private readonly bool _areDrawn;
    private SimulatedReplica? _asked;
    private bool _hasDied, _isStopped;
    private TimeSpan _standsStillUntil;
    private CheckpointFileName? _last;

    /// <summary>So many calls were made when the last checkpoint was known of.</summary>
    private ulong _madeAtLast;

    /// <summary>Marks that were seen, and the log's tail behind the last.</summary>
    private int _marks;
    private Lsn _marked;

    public DeadMarks(World world, ulong seed)
    {
        _world = world;
        _random = new SimulatedRandom(seed ^ 0xDEAD);
        _areDrawn = world.Faults.DeadMarks || _random.Next(3) == 0;
    }

    /// <summary>A mark was asked for, and all replicas are to die before it is answered; false: not yet, or never.</summary>
    /// <param name="primary">That of the source, which makes calls.</param>
    /// <param name="calls">So many of them the ledger has had.</param>
    public bool IsTime(SimulatedReplica primary, ulong calls)
    {
        if (!_areDrawn || _hasDied || !_world.Source.HasRivals) return false;
        CheckpointTrigger checkpoints = primary.Coordinator!.Checkpoints.Trigger;
        CheckpointStatus status = checkpoints.Status;
        ulong made = ((Source)primary.App!.Immortal!).Made;
        if (status.Last != _last) (_last, _madeAtLast) = (status.Last, made);
        DiskWitness disk = _world.Oracles.DiskOf(_world.Source.Id);
        if (disk.Marks != _marks) Marked(disk, primary);
        else if (!checkpoints.IsDue) TryAsk(primary, calls);
        else if (_asked is not null && primary.Coordinator.Log.Stated >= _marked) return _hasDied = calls > _madeAtLast;
        return false;
    }

    /// <summary>A mark was logged, which names a replica.</summary>
    private void Marked(DiskWitness disk, SimulatedReplica primary)
    {
        _marks = disk.Marks;
        _marked = primary.Coordinator!.Log.Tail;
        _asked = Array.Find(_world.Source.Replicas, replica => replica.Name == disk.LastMark!.Replica);
    }

    /// <summary>
    /// Asks for a checkpoint when the ledger has had calls that were made behind the last one, so that who begins there makes them again.
    /// </summary>
    private void TryAsk(SimulatedReplica primary, ulong calls)
    {
        _asked = null;
        if (calls > _madeAtLast + 2 && _random.Next(50) == 0) primary.Coordinator!.Checkpoints.Request();
    }

    /// <summary>The other build differs here: at a call that was made behind the last checkpoint.</summary>
    public ulong DiffersAt(ulong calls) => calls - (ulong)_random.Next((int)Math.Min(calls - _madeAtLast, 40));

    /// <summary>All have died: those that were not asked are started a little later.</summary>
    public void Died()
    {
        TimeSpan now = _world.Time.Elapsed;
        _standsStillUntil = now + TimeSpan.FromMilliseconds(_random.Next(5000, 10_000));
        foreach (SimulatedReplica replica in _world.Source.Replicas)
            if (replica != _asked) replica.RestUntil(now + TimeSpan.FromMilliseconds(_random.Next(20, 300)));
    }

    /// <summary>
    /// The standby that was asked reads no further than its process found the log, so that it answers the dead primary's mark; and who has
    /// claimed the epoch behind it is stopped for a while, before it can hear of any peer that its calls are other ones.
    /// </summary>
    public void Step()
    {
        if (!IsStandingStill) return;
        _asked!.Hung.Hang(Pump.Follow, _standsStillUntil);
        if (_isStopped || Successor is not { } successor) return;
        _isStopped = true;
        TimeSpan span = TimeSpan.FromMilliseconds(_random.Next(2000, 6000));
        if (!_world.Strikes.Strike($"stop {successor.Process} for {span}, which has claimed")) return;
        _world.Trace($"stop {successor.Process} for {span}, which has claimed");
        successor.Pause(span);
    }

    /// <summary>Its process follows, and claims nothing before its app has come, as a process of the product does.</summary>
    public bool MustFollow(SimulatedReplica replica) => IsUnderWay && replica == _asked;

    /// <summary>Nothing else breaks meanwhile.</summary>
    public bool Spares(SimulatedInstance instance) => IsUnderWay && instance == _world.Source;

    /// <summary>It finds the lock held, and follows, although its follower stands still.</summary>
    public bool MayFind(SimulatedReplica standby) => IsStandingStill && standby == _asked && Successor is not null;

    private bool IsUnderWay => _hasDied && !_world.IsCalm && _world.Time.Elapsed < _standsStillUntil;

    private bool IsStandingStill => IsUnderWay && _asked is { IsOtherBuild: true, Coordinator.HasLog: false };

    private SimulatedReplica? Successor => Array.Find(_world.Source.Replicas, static each => each.Coordinator is { HasLog: true });
}
