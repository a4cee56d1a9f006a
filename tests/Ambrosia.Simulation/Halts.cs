using Ambrosia.Coordinator.Replica;
using Ambrosia.Protocol;

namespace Ambrosia.Simulation;

/// <summary>
/// Which processes may end with a code that needs a person, because something was done to their instance that must end so: no other process
/// may, and none before. One that ends so is started again, as by somebody who has not read the line; when the faults are over it stays
/// down.
/// </summary>
internal sealed class Halts(World world)
{
    private readonly HashSet<(InstanceId Instance, int Code)> _due = [];

    /// <summary>When the last one was.</summary>
    public TimeSpan Last { get; private set; }

    /// <summary>From now on processes of that instance may end with that code.</summary>
    public void Expect(InstanceId instance, int code) => _due.Add((instance, code));

    public bool IsExpected(InstanceId instance, int code) => _due.Contains((instance, code));

    /// <summary>A process ends; false: it must not.</summary>
    public bool TryTake(SimulatedReplica replica, int code)
    {
        if (!_due.Contains((replica.Id, code))) return false;
        Last = world.Time.Elapsed;
        world.Saw($"exit {code}");
        replica.Halt(stays: world.IsCalm && code != ExitCodes.Io && !world.Builds.IsToBePutBack(replica));
        return true;
    }
}

/// <summary>A coordinator ends by a decision of its own, with an exit code (<see cref="ExitCodes"/>).</summary>
internal sealed class ProcessEnd(SimulatedReplica replica, int code, string why) : Exception(why)
{
    public SimulatedReplica Replica { get; } = replica;

    public int Code { get; } = code;
}
