using Ambrosia.TestKit;

namespace Ambrosia.Simulation;

/// <summary>
/// What operators do in a third of the worlds: they promote a standby, retire a replica, stop one with SIGTERM and start it again, and ask
/// for a checkpoint. Chance of its own.
/// </summary>
internal sealed class Operators
{
    private readonly World _world;
    private readonly SimulatedRandom _random;
    private readonly bool _act;

    public Operators(World world, ulong seed)
    {
        _world = world;
        _random = new SimulatedRandom(seed ^ 0x09E7);
        _act = _random.Next(3) == 0 && world.Faults.Operators;
    }

    /// <summary>Lets something be asked for, now and then.</summary>
    public void Step()
    {
        if (!_act || _random.Next(1500) != 0) return;
        SimulatedReplica replica = _random.Pick(_world.Replicas.ToArray());
        int what = _random.Next(6);
        string order = what switch { < 2 => "terminate", < 4 => "promote", 4 => "retire", _ => "checkpoint" };
        if (!_world.Strikes.Strike($"{order} {replica.Process}")) return;
        _world.Trace($"{order} {replica.Process}");
        if (replica.Orders is not { } orders) return;
        if (order == "terminate") orders.Terminate();
        else orders.Ask(order);
    }

    /// <summary>Who has stopped a replica starts it again after a while.</summary>
    public TimeSpan RestartsAfter() => TimeSpan.FromMilliseconds(_random.Next(20, 5000));
}
