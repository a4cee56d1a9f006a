using System.Diagnostics;
using System.Globalization;
using Ambrosia.Coordinator.Replica;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>What is done to the primary, or to its standby in the middle of a take-over.</summary>
internal enum Disturbance { Kill, Stop, CutStorage, CutDuringTakeOver }

/// <summary>One instance with a replica on each of two machines that share its log. One test's thread.</summary>
internal sealed class SharedInstance : IDisposable
{
    private const int Machines = 2, Port = 4711, PauseMsMax = 300, ShortPauseMsMax = 50;

    /// <summary>Longer than a machine waits for its storage before its files fail (network.ping-timeout).</summary>
    private const int LongCutMsMax = 6000;
    private static readonly TimeSpan s_patience = TimeSpan.FromMinutes(3);

    private readonly GlusterMachines _machines;
    private readonly Replica[] _replicas;
    private int? _cut, _stopped;

    /// <summary>Take-overs that were cut off from their storage: before the claim, between it and their end, and behind it.</summary>
    private readonly int[] _cuts = new int[3];

    /// <param name="catalog">Where the names are; null: in a directory that all machines see.</param>
    /// <param name="options">Further options of each replica.</param>
    public SharedInstance(Cluster cluster, GlusterMachines machines, string? catalog = null, params string[] options)
    {
        _machines = machines;
        _replicas = [.. Enumerable.Range(0, Machines).Select(machine =>
        {
            var replica = new Replica(machines.Directory, "ledger", "ledger") { WorkingDirectory = cluster.Root };
            replica.Options.AddRange(["--replica", $"r{machine}", "--catalog", catalog ?? cluster.Catalog, "--insecure", "--hang-limit", "2",
                "--checkpoint-every", "4M", "--segment", "16M",
                "--listen", $"{GlusterMachines.AddressOf(machine)}:{Port}", "--run", Path.Combine(cluster.Root, $"run{machine}"), .. options]);
            return cluster.Adopt(replica);
        })];
    }

    /// <summary>How long each take-over took, from what was done to the primary until the other one was ready.</summary>
    public List<TimeSpan> TakeOvers { get; } = [];

    /// <summary>How many of the take-overs that were to be cut off were so in the middle: they had claimed, and were not ready.</summary>
    public int CutsInTheMiddle => _cuts[1];

    public string Cuts => $"{_cuts[0]} before the claim, {_cuts[1]} between it and ready, {_cuts[2]} behind";

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
                ulong epoch = Epoch(); // before the kill, behind which the standby may claim the next one at once
                _replicas[primary].KillCoordinator();
                CutTakeOver(standby, from[standby], epoch, chance);
                break;
        }
        Cluster.Await("a primary behind the disturbance", () =>
        {
            RestartEnded();
            return _replicas.Index().Any(each => IsReadySince(each.Item, from[each.Index])); // the old one, where it came back first
        }, s_patience);
        TakeOvers.Add(Stopwatch.GetElapsedTime(begun));
    }

    /// <summary>
    /// Makes the standby primary while the other one lives and works, and waits until it is and the other one has noticed. The other one
    /// comes back as standby.
    /// </summary>
    public void Promote()
    {
        int primary = Primary(), standby = 1 - primary;
        ReplicaSet.AwaitCaughtUp(_replicas[standby]);
        string[] inside = _machines.Inside(standby);
        Tool promoted = Tool.Of(inside[0],
            [.. inside[1..], Executables.Ambrosia, "promote", _replicas[standby].LogDirectory, $"r{standby}"]);
        Assert.True(promoted.Code == 0, promoted.Error);
        Assert.Equal(ExitCodes.NotPrimary, _replicas[primary].AwaitExit(s_patience));
        RestartEnded();
    }

    /// <summary>Lets 'ambrosia doctor --meet' look from both machines at once; returns what each has found.</summary>
    public Tool[] Meet()
    {
        Task<Tool>[] both = [.. Enumerable.Range(0, Machines).Select(machine => Task.Run(() =>
        {
            string[] inside = _machines.Inside(machine);
            return Tool.Of(inside[0], [.. inside[1..], Executables.Ambrosia, "doctor", _machines.Directory, "--meet", "by-hand"]);
        }))];
        return Task.WhenAll(both).GetAwaiter().GetResult();
    }

    /// <summary>The log is whole, as a tool on one of the machines sees it.</summary>
    public void AssertWhole()
    {
        string[] inside = _machines.Inside(0);
        Tool verified = Tool.Of(inside[0], [.. inside[1..], Executables.Ambrosia, "verify", _replicas[0].LogDirectory]);
        Assert.True(verified.Code == 0, verified.Output + verified.Error);
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

    /// <summary>The standby takes over and is cut off anywhere in that, for a moment or until its storage has failed.</summary>
    /// <param name="epoch">That of the primary that is gone.</param>
    private void CutTakeOver(int standby, int from, ulong epoch, Chance chance)
    {
        if (chance.Coin()) Cluster.Await("a claim", () => Epoch() > epoch, s_patience);
        chance.PassTime(chance.Coin() ? PauseMsMax : ShortPauseMsMax);
        int place = IsReadySince(_replicas[standby], from) ? 2 : Epoch() > epoch ? 1 : 0;
        Cut(standby);
        _cuts[place]++;
        chance.PassTime(chance.Coin() ? PauseMsMax : LongCutMsMax);
        Mend();
    }

    /// <summary>The epoch in force, as the server has it.</summary>
    private ulong Epoch() => Directory.EnumerateFiles(Path.Combine(_machines.Brick, "ledger"), "epoch.*")
        .Max(static path => ulong.Parse(path.Split('.')[^1], CultureInfo.InvariantCulture));

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

    /// <summary>A replica that has ended comes back, as whoever supervises it would see to.</summary>
    public void RestartEnded()
    {
        for (int machine = 0; machine < Machines; machine++)
            if (_replicas[machine] is { IsRunning: false, HasStarted: true }) _replicas[machine].Start(null, true, _machines.Inside(machine));
    }

    private static bool IsReadySince(Replica replica, int from) =>
        replica.Lines.From(from).Any(static line => line.StartsWith("ready ", StringComparison.Ordinal));
}
