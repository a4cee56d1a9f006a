using System.Diagnostics;
using Ambrosia.Coordinator.Replica;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>What is done to the primary, or to its standby in the middle of a take-over.</summary>
internal enum Disturbance { Kill, Stop, CutStorage, CutDuringTakeOver }

/// <summary>One instance with a replica on each of two machines that share its log. One test's thread.</summary>
internal sealed class SharedInstance : IDisposable
{
    private const int Machines = 2, Port = 4711, PauseMsMax = 300;
    private static readonly TimeSpan s_patience = TimeSpan.FromMinutes(3);

    private readonly GlusterMachines _machines;
    private readonly Replica[] _replicas;
    private int? _cut, _stopped;

    public SharedInstance(Cluster cluster, GlusterMachines machines)
    {
        _machines = machines;
        _replicas = [.. Enumerable.Range(0, Machines).Select(machine =>
        {
            var replica = new Replica(machines.Directory, "ledger", "ledger") { WorkingDirectory = cluster.Root };
            replica.Options.AddRange(["--replica", $"r{machine}", "--catalog", cluster.Catalog, "--insecure", "--hang-limit", "2",
                "--listen", $"{GlusterMachines.AddressOf(machine)}:{Port}", "--run", Path.Combine(cluster.Root, $"run{machine}")]);
            return cluster.Adopt(replica);
        })];
    }

    /// <summary>How long each take-over took, from what was done to the primary until the other one was ready.</summary>
    public List<TimeSpan> TakeOvers { get; } = [];

    /// <summary>Starts the replica of a machine. The first one becomes primary.</summary>
    public Replica Start(int machine)
    {
        Replica replica = _replicas[machine].Start(null, true, _machines.Inside(machine));
        if (machine == 0) replica.AwaitReady();
        return replica;
    }

    /// <summary>Waits until the standby may take over: until it has met this primary, in this life of its own.</summary>
    public void AwaitProof() => Cluster.Await("a standby that has met the primary", () =>
    {
        int primary = Primary();
        Replica standby = _replicas[1 - primary];
        string met = $"the primary of epoch {ReplicaSet.EpochOf(_replicas[primary])} and this replica see at once what the other changes";
        return standby.IsRunning
            && standby.Lines.Find(line => line.StartsWith(met, StringComparison.Ordinal), standby.StartedAt) is not null;
    }, s_patience);

    /// <summary>Does something to the primary, and waits until there is one again: most often the other.</summary>
    public void Disturb(Disturbance what, Chance chance)
    {
        int primary = Primary(), standby = 1 - primary;
        int[] from = [.. _replicas.Select(static replica => replica.Lines.Count)];
        long begun = Stopwatch.GetTimestamp();
        switch (what)
        {
            case Disturbance.Kill:
                _replicas[primary].KillCoordinator();
                break;
            case Disturbance.Stop:
                Signals.Stop(_replicas[primary].Coordinator.Id);
                _stopped = primary;
                break;
            case Disturbance.CutStorage:
                Cut(primary);
                break;
            default:
                _replicas[primary].KillCoordinator();
                chance.PassTime(PauseMsMax); // anywhere in its take-over
                Cut(standby);
                chance.PassTime(PauseMsMax);
                Mend();
                break;
        }
        Cluster.Await("a primary behind the disturbance", () =>
        {
            RestartEnded();
            return _replicas.Index().Any(each => IsReadySince(each.Item, from[each.Index])); // the old one, where it came back first
        }, s_patience);
        TakeOvers.Add(Stopwatch.GetElapsedTime(begun));
    }

    /// <summary>Lets go on what was stopped, and joins what was cut off; a replica that has ended comes back.</summary>
    public void Mend()
    {
        if (_stopped is { } stopped) Signals.Continue(_replicas[stopped].Coordinator.Id);
        if (_cut is { } cut) _machines.MendStorage(cut);
        (_stopped, _cut) = (null, null);
        RestartEnded();
    }

    /// <summary>They have ended only as a replica does that lost its disk or its epoch.</summary>
    public void AssertCodes()
    {
        foreach (Replica replica in _replicas)
            Assert.DoesNotContain(replica.Lines.From(0), static line => line.StartsWith("exit ", StringComparison.Ordinal)
                && !line.StartsWith($"exit {ExitCodes.Io}:", StringComparison.Ordinal)
                && !line.StartsWith($"exit {ExitCodes.NotPrimary}:", StringComparison.Ordinal));
    }

    /// <summary>Ends the coordinators before their machines end; the rest is the cluster's.</summary>
    public void Dispose()
    {
        if (_stopped is { } stopped) Signals.Continue(_replicas[stopped].Coordinator.Id);
        foreach (Replica replica in _replicas) replica.KillCoordinator();
    }

    private int Primary()
    {
        int found = -1;
        Cluster.Await("a primary", () =>
        {
            RestartEnded();
            ulong[] epochs = [.. _replicas.Select(static replica => replica.IsRunning ? ReplicaSet.EpochOf(replica) : 0)];
            found = epochs[0] == epochs[1] ? -1 : epochs[0] > epochs[1] ? 0 : 1;
            return found >= 0;
        }, s_patience);
        return found;
    }

    private void Cut(int machine)
    {
        _machines.CutStorage(machine);
        _cut = machine;
    }

    private void RestartEnded()
    {
        for (int machine = 0; machine < Machines; machine++)
            if (_replicas[machine] is { IsRunning: false, HasStarted: true }) _replicas[machine].Start(null, true, _machines.Inside(machine));
    }

    private static bool IsReadySince(Replica replica, int from) =>
        replica.Lines.From(from).Any(static line => line.StartsWith("ready ", StringComparison.Ordinal));
}
