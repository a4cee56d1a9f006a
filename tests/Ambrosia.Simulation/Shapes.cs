using Ambrosia.TestKit;

namespace Ambrosia.Simulation;

/// <summary>How large a world is. It has chance of its own, so that a world of the usual shape takes the steps that it took.</summary>
internal sealed class Shapes
{
    private readonly World _world;
    private readonly SimulatedRandom _random;
    private readonly bool _mayHaveThree;

    public Shapes(World world, ulong seed)
    {
        _world = world;
        _random = new SimulatedRandom(seed ^ 0x54A9);
        _mayHaveThree = _random.Next(3) == 0 && world.Faults.Shapes;
    }

    /// <summary>The number of replicas of an instance that has more than one.</summary>
    public int Replicas()
    {
        if (!_mayHaveThree || _random.Next(3) == 0) return 2;
        _world.Saw("three replicas");
        return 3;
    }
}
