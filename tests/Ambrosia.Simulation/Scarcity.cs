using Ambrosia.Coordinator.Checkpoints;
using Ambrosia.Log.Files;
using Ambrosia.TestKit;

namespace Ambrosia.Simulation;

/// <summary>
/// Limits of processes, in an eighth of the worlds: for a while a process may open no further file (EMFILE), or the system has no memory
/// for what it asks of names and openings (ENOMEM). Who need not write for safety waits; all others end with 71, never with 74, since the
/// disk has nothing to do with it. It has chance of its own.
/// </summary>
internal sealed class Scarcity
{
    private readonly World _world;
    private readonly SimulatedRandom _random, _refuses;
    private readonly bool _strikes;

    /// <summary>Processes that were given nothing for a while: they may end with 71.</summary>
    private readonly HashSet<string> _struck = new(StringComparer.Ordinal);

    private (SimulatedReplica Replica, string Process, TimeSpan Until)? _short;
    private long _refused;

    public Scarcity(World world, ulong seed)
    {
        _world = world;
        _random = new SimulatedRandom(seed ^ 0x5CA2);
        _refuses = new SimulatedRandom(seed ^ 0x5CA3);
        _strikes = (world.Faults.Scarcity ?? _random.Next(8) == 0) && world.Faults.Kills;
    }

    /// <summary>Lets something run out, now and then, and come back.</summary>
    public void Step()
    {
        if (_short is { } now && _world.Time.Elapsed >= now.Until) Clear();
        if (!_strikes || _short is not null || _random.Next(1500) != 0) return;
        SimulatedReplica replica = _random.Pick(_world.Replicas.ToArray());
        TimeSpan span = TimeSpan.FromMilliseconds(_random.Next(20, 1500));
        bool ofMemory = _random.Next(2) == 0;
        int left = _random.Next(3);
        string process = replica.Process, what = $"{process}: {(ofMemory ? "no memory" : $"{left} descriptors are left")} for {span}";
        if (replica.OnDisk is not { IsAlive: true } onDisk || !_world.Strikes.Strike(what)) return;
        _world.Trace(what);
        _short = (replica, process, _world.Time.Elapsed + span);
        _struck.Add(process);
        if (ofMemory) _world.Disk.Faults.FailNth(1, FileFault.OutOfMemory, forGood: true, where: Refuses);
        else onDisk.OpenFilesMax = onDisk.OpenFiles + left;
        _world.Saw(ofMemory ? "no memory" : "no descriptors");
    }

    /// <summary>There is enough of everything again.</summary>
    public void Clear()
    {
        if (_short is { } was && was.Replica.OnDisk is { } onDisk) onDisk.OpenFilesMax = int.MaxValue;
        _short = null;
    }

    /// <summary>The disk has not failed this operation: the system refused it.</summary>
    public bool IsOurs(FileOperation operation) => operation.Index == _refused;

    /// <summary>True: a process ends with 71 since it was given something no more.</summary>
    /// <param name="met">What it met; null: it is not known.</param>
    public bool IsOurs(SimulatedReplica replica, Exception? met)
    {
        if (!_struck.Contains(replica.Process) || (met is IOException refused && !IFileSystem.IsLimit(refused.HResult))) return false;
        _world.Saw("exit 71");
        return true;
    }

    /// <summary>As the thread that writes checkpoints does it: what the system refuses for now is tried again later.</summary>
    /// <exception cref="SimulationFailure">Nothing of that process was to be refused.</exception>
    public void StepCheckpoints(SimulatedReplica replica, Action<ReplicaCheckpoints> step)
    {
        try
        {
            step(replica.Coordinator!.Checkpoints);
        }
        catch (IOException refused) when (IFileSystem.IsNotNow(refused))
        {
            if (IFileSystem.IsDiskFull(refused) ? !_world.Weather.FailsDisks : !_struck.Contains(replica.Process))
                throw new SimulationFailure($"{replica.Process} is refused what there is enough of: {refused.Message}");
            _world.Trace($"{replica.Process}: its checkpoint waits: {refused.Message}");
            _world.Saw("checkpoint waits for the system");
        }
    }

    private bool Refuses(FileOperation operation)
    {
        bool isAsked = operation.Kind is FileOperationKind.Open or FileOperationKind.Create or FileOperationKind.List
            or FileOperationKind.Exists or FileOperationKind.Lock or FileOperationKind.Rename or FileOperationKind.RenameNew
            or FileOperationKind.Link or FileOperationKind.Delete;
        if (!isAsked || _short is not { } now || operation.Process != now.Process || _refuses.Next(3) != 0) return false;
        _refused = operation.Index;
        return true;
    }
}
