using Ambrosia.EndToEnd.App;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>The replicas of one instance, of which one is primary at a time. One test's thread.</summary>
internal sealed class ReplicaSet
{
    private readonly Cluster _cluster;
    private readonly string _name, _role;
    private readonly List<Replica> _members = [];

    public ReplicaSet(Cluster cluster, string name, string role)
    {
        _cluster = cluster;
        _name = name;
        _role = role;
    }

    /// <summary>The apps' settings; equal for all, since all execute the same log.</summary>
    public Dictionary<string, string> Settings { get; } = [];

    public List<string> Options { get; } = [];

    /// <summary>The coordinators' program.</summary>
    public string Program { get; init; } = Executables.Coordinator;

    public IReadOnlyList<Replica> Members => _members;

    /// <summary>One more replica, not started yet.</summary>
    public Replica Add()
    {
        Replica replica = _cluster.Add(_name, _role);
        replica.Program = Program;
        replica.Options.AddRange(["--replica", $"r{_members.Count}", .. Options]);
        foreach ((string key, string value) in Settings) replica.Settings[key] = value;
        _members.Add(replica);
        return replica;
    }

    /// <summary>Starts so many; the first of them is primary when it comes back.</summary>
    public ReplicaSet Start(int count)
    {
        for (int i = 0; i < count; i++)
        {
            Replica replica = Add().Start();
            if (i == 0) replica.AwaitReady();
        }
        return this;
    }

    /// <summary>The running member that was made primary last; waits until there is one.</summary>
    public Replica Primary()
    {
        Replica? found = null;
        Cluster.Await($"{_name} has a primary", () => (found = FindPrimary()) is not null);
        return found!;
    }

    private Replica? FindPrimary()
    {
        (Replica? best, ulong highest) = (null, 0);
        foreach (Replica member in _members)
            if (EpochOf(member) is var epoch && epoch > highest) (best, highest) = (member, epoch);
        return best is { IsRunning: true } ? best : null; // a dead one's epoch has not been followed by another yet
    }

    /// <summary>Epoch of the last ready line of the process that was started last; 0: it has not become primary.</summary>
    public static ulong EpochOf(Replica member) =>
        member.Lines.FindLast(static line => line.StartsWith("ready ", StringComparison.Ordinal), member.StartedAt) is { } line
            ? ulong.Parse(line.Split("epoch=")[1].Split(' ')[0]) : 0;

    /// <summary>A member that runs and is not primary.</summary>
    public Replica Standby() => _members.First(m => m.IsRunning && m != Primary());

    public static void AwaitCaughtUp(Replica member) =>
        member.AwaitLine("word that it has caught up",
            static line => line.Contains("caught up", StringComparison.Ordinal) || line.StartsWith("ready ", StringComparison.Ordinal));

    public void StartStopped()
    {
        foreach (Replica member in _members)
            if (!member.IsRunning) member.Start();
    }

    public void KillAll()
    {
        foreach (Replica member in _members) member.KillCoordinator();
    }
}
