using Ambrosia.Protocol.Locking;
using Ambrosia.TestKit;

namespace Ambrosia.Simulation;

/// <summary>
/// What kills: processes, all of them at once, the power, connections, and processes in the middle of an operation of the disk. It also
/// lets a rival act between two operations of a replica.
/// </summary>
internal sealed class Breakage(World world)
{
    private bool _isNested;
    private int _fileCrashIn;

    private Faults Faults => world.Faults;

    public void Break(SimulatedInstance instance)
    {
        if (world.Builds.Spares(instance)) return;
        world.Crashes++;
        if (instance.HasRivals && world.Random.Next(2) == 0) { BreakReplica(instance); return; }
        switch (world.Random.Next(6))
        {
            case 0 when Faults.Kills && Strikes($"kill coordinator {instance.Id}"): world.PickOf(instance).KillCoordinator(); break;
            case 1 when Faults.Kills && Strikes($"kill app {instance.Id}"): world.PickOf(instance).App?.Kill(); break;
            case 2 when Faults.Kills && Strikes("kill all"): world.KillAll(); break;
            case 3 when Faults.PowerLosses && Strikes("power loss"): LosePower(); break;
            case 4 when Faults.BrokenLinks && world.Links.Count > 0 && Strikes("cut a link"):
                world.Random.Pick(world.Links).Break("cut");
                break;
            case 5 when Faults.Kills && Strikes("crash in a file operation"): _fileCrashIn = world.Random.Next(1, 40); break;
        }
    }

    private bool Strikes(string what)
    {
        if (!world.Strikes.Strike(what)) return false;
        world.Trace(what);
        return true;
    }

    private void LosePower()
    {
        world.KillAll();
        world.Disk.PowerLoss(world.Random.NextUInt64());
        world.Oracles.PowerLost();
    }

    /// <summary>What matters where there is another to go on.</summary>
    private void BreakReplica(SimulatedInstance instance)
    {
        SimulatedReplica[] primaries = instance.Reachable;
        if (primaries.Length == 0) return;
        SimulatedReplica primary = world.Random.Pick(primaries);
        if (world.Random.Next(3) == 0 && Faults.Kills)
        {
            if (Strikes($"kill primary {primary.Process}")) primary.KillCoordinator();
            return;
        }
        TimeSpan span = world.Limits.HangLimit * world.Random.Next(1, 9) / 2;
        if (Strikes($"stop {primary.Process} for {span}")) primary.Pause(span);
    }

    /// <summary>A crash in the middle of a file operation.</summary>
    public void BeforeFileOperation(FileOperation operation)
    {
        world.TraceStep((ulong)operation.Bytes);
        if (!_isNested && world.Running is { } replica) LetRivalAct(replica);
        if (world.IsCalm || _fileCrashIn == 0 || !operation.Changes || --_fileCrashIn > 0) return;
        throw new SimulatedCrash($"at {operation}")
        {
            BytesWritten = operation.Bytes > 0 ? world.Random.Next((int)Math.Min(operation.Bytes, 1 << 20)) : 0
        };
    }

    /// <summary>
    /// Between two file operations of one replica another one acts, above all while an epoch is claimed and a log taken over.
    /// </summary>
    private void LetRivalAct(SimulatedReplica replica)
    {
        SimulatedInstance instance = world.InstanceOf(replica.Id);
        if (!instance.HasRivals || world.Random.Next(replica.IsClaiming ? 6 : 60) != 0) return;
        SimulatedReplica rival = world.PickOf(instance);
        if (rival == replica) return;
        _isNested = true;
        LockChecks.AsAnotherThread(() => world.Run(rival, () => rival.Step(world.Random)));
        _isNested = false;
        world.Running = replica;
    }
}
