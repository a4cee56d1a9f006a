using Ambrosia.Protocol;

namespace Ambrosia.Simulation;

/// <summary>One instance: its replicas, which share a directory, and its app's code.</summary>
internal sealed class SimulatedInstance
{
    public SimulatedInstance(World world, string name, ImmortalDefinition definition, int replicas)
    {
        Id = new InstanceId(name);
        Definition = definition;
        Replicas = [.. Enumerable.Range(0, replicas).Select(n => new SimulatedReplica(world, this, $"r{n}"))];
    }

    public InstanceId Id { get; }

    public ImmortalDefinition Definition { get; }

    public SimulatedReplica[] Replicas { get; }

    public bool HasRivals => Replicas.Length > 1;

    public string Directory => $"/data/{Id.Name}";

    /// <summary>Those that peers can reach: more than one while a former primary does not know yet that it is one.</summary>
    public SimulatedReplica[] Reachable => [.. Replicas.Where(static replica => replica.Coordinator is { IsPrimary: true })];

    /// <summary>The one primary's app; null while there is none, or more.</summary>
    public SimulatedApp? App => Primary?.App;

    /// <summary>One primary, which has nothing to do; all others follow it and have executed all that it states.</summary>
    public bool IsQuiet => Primary is not null && Array.TrueForAll(Replicas, static replica => replica.IsHalted || replica.IsQuiet);

    /// <summary>Nobody of it can go on without a person.</summary>
    public bool IsHalted => Array.TrueForAll(Replicas, static replica => replica.IsHalted);

    public IEnumerable<SimulatedReplica> Living => Replicas.Where(static replica => !replica.IsHalted);

    /// <summary>Null: there is none, or more. Asked after each step.</summary>
    public SimulatedReplica? Primary
    {
        get
        {
            SimulatedReplica? only = null;
            foreach (SimulatedReplica replica in Replicas)
            {
                if (replica.Coordinator is not { IsPrimary: true }) continue;
                if (only is not null) return null;
                only = replica;
            }
            return only;
        }
    }
}
