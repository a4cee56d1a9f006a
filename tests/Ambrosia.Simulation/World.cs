using Ambrosia.Coordinator;
using Ambrosia.Log;
using Ambrosia.TestKit;

namespace Ambrosia.Simulation;

/// <summary>What a run may do to the processes.</summary>
internal sealed record Faults
{
    public bool Kills { get; init; } = true;

    public bool PowerLosses { get; init; } = true;

    public bool BrokenLinks { get; init; } = true;

    /// <summary>Negative control: flushes that do nothing, which no recovery can survive.</summary>
    public bool LyingDisk { get; init; }

    /// <summary>Negative control: an app that emits another value each time it runs.</summary>
    public bool RollingDice { get; init; }

    /// <summary>Negative control: a fence check that does not look.</summary>
    public bool BlindFence { get; init; }

    /// <summary>Negative control: links that carry acknowledgements of what is not durable yet.</summary>
    public bool RaisedAcks { get; init; }

    /// <summary>Invariants that are watched; a negative control watches one alone.</summary>
    public Oracle Watched { get; init; } = Oracle.All;
}

/// <summary>
/// Two instances of the real coordinator and binding on one simulated disk, network and clock, in one thread. A seed decides every step:
/// who moves, how many bytes arrive, what breaks. After the faults everything must come to rest with every call applied once, in order.
/// </summary>
internal sealed class World
{
    private const int FaultySteps = 60_000, CalmStepsMax = 3_000_000;

    private readonly List<SimulatedLink> links = [];
    private readonly SimulationTrace trace = new();
    private bool calm;
    private int fileCrashIn;

    public World(ulong seed, Faults faults)
    {
        Seed = seed;
        Faults = faults;
        Oracles = new Oracles(faults.Watched);
        Random = new SimulatedRandom(seed);
        Disk = new SimulatedFileSystem(seed ^ 0xD15C);
        Disk.BeforeOperation = BeforeFileOperation;
        CrashPoints = new RandomCrashes(this);
        Crash.Arm(CrashPoints);
        Source = new SimulatedReplica(this, "source", ImmortalDefinition.Of<Source>());
        Ledger = new SimulatedReplica(this, "ledger", ImmortalDefinition.Of<Ledger>());
        CheckpointEveryBytes = Random.Next(4) == 0 ? long.MaxValue : 4096 * Random.Next(1, 60);
        LogOptions = new LogOptions
        {
            SegmentBytes = 4096 * Random.Next(20, 300), PageBytes = 4096 * Random.Next(2, 16), Pages = Random.Next(2, 5), ZeroWindowBytes = 4096 * Random.Next(0, 40),
        };
        Simulation.Source.Dice = faults.RollingDice ? new SimulatedRandom(seed) : null;
        Disk.CreateDirectory("/data");
        Disk.FlushDirectory("/");
        Disk.FlushDirectory("/data");
    }

    public ulong Seed { get; }

    public Faults Faults { get; }

    public Oracles Oracles { get; }

    public SimulatedRandom Random { get; }

    public SimulatedFileSystem Disk { get; }

    public FakeTime Time { get; } = new();

    public ICrashPoints CrashPoints { get; }

    public LogOptions LogOptions { get; }

    public long CheckpointEveryBytes { get; }

    public SimulatedReplica Source { get; }

    public SimulatedReplica Ledger { get; }

    public int Crashes { get; private set; }

    public ulong TraceHash => trace.Hash;

    public long NowMicros => Time.GetUtcNow().ToUnixTimeMilliseconds() * 1000;

    public Guid NewUuid()
    {
        byte[] bytes = new byte[16];
        Random.NextBytes(bytes);
        return new Guid(bytes);
    }

    /// <exception cref="SimulationFailure">An invariant broke; the message repeats the seed.</exception>
    public void Run()
    {
        try
        {
            for (int i = 0; i < FaultySteps && !IsDone(); i++) Step();
            calm = true;
            for (int i = 0; !IsDone(); i++)
            {
                if (i == CalmStepsMax) throw new SimulationFailure($"no rest after the faults (I22): {Describe()}");
                Step();
            }
            Judge();
        }
        catch (Exception e) when (e is not SimulationFailure { Data.Count: > 0 })
        {
            throw new SimulationFailure($"seed {Seed}: {e.GetType().Name}: {e.Message}\n{string.Join('\n', trace.Tail)}\n{e.StackTrace}");
        }
    }

    private void Step()
    {
        SimulatedReplica replica = Random.Next(2) == 0 ? Source : Ledger;
        try
        {
            if (!calm && Random.Next(600) == 0) Break(replica);
            else if (links.Count > 0 && Random.Next(3) == 0) StepLink();
            else
            {
                Running = replica;
                replica.Step(Random);
            }
        }
        catch (SimulatedCrash)
        {
            Trace($"{Running!.Id} crashed in the middle");
            Crashes++;
            Running.KillCoordinator();
        }
        if (Random.Next(20) == 0) Time.Advance(TimeSpan.FromMilliseconds(Random.Next(1, 30)));
    }

    /// <summary>Whose code runs: who dies when a crash is thrown.</summary>
    public SimulatedReplica? Running { get; set; }

    private void StepLink()
    {
        SimulatedLink link = Random.Pick(links);
        link.Step(Random);
        if (link.HasEnded) links.Remove(link);
    }

    private void Break(SimulatedReplica replica)
    {
        Crashes++;
        switch (Random.Next(6))
        {
            case 0 when Faults.Kills: Trace($"kill coordinator {replica.Id}"); replica.KillCoordinator(); break;
            case 1 when Faults.Kills: Trace($"kill app {replica.Id}"); replica.App?.Kill(); break;
            case 2 when Faults.Kills: Trace("kill all"); Source.KillCoordinator(); Ledger.KillCoordinator(); break;
            case 3 when Faults.PowerLosses:
                Trace("power loss");
                Source.KillCoordinator();
                Ledger.KillCoordinator();
                Disk.PowerLoss(Random.NextUInt64());
                break;
            case 4 when Faults.BrokenLinks && links.Count > 0: Random.Pick(links).Break("cut"); break;
            case 5 when Faults.Kills: fileCrashIn = Random.Next(1, 40); break;
        }
    }

    public void Lost(SimulatedReplica dead)
    {
        foreach (SimulatedLink link in links) link.Lost(dead);
        links.RemoveAll(static link => link.HasEnded);
    }

    public void Dial(SimulatedReplica from)
    {
        foreach (Protocol.InstanceId peer in from.Coordinator!.PeersToDial())
        {
            SimulatedReplica to = peer == Source.Id ? Source : Ledger;
            if (to.Coordinator is { IsPrimary: true }) links.Add(new SimulatedLink(this, from, to, (uint)Random.Next()));
            else from.Coordinator.DialFailed(peer, DialTrouble.NoAnswer);
        }
    }

    /// <summary>A crash in the middle of a file operation.</summary>
    private void BeforeFileOperation(FileOperation operation)
    {
        if (calm || fileCrashIn == 0 || !operation.Changes || --fileCrashIn > 0) return;
        throw new SimulatedCrash($"at {operation}") { BytesWritten = operation.Bytes > 0 ? Random.Next((int)Math.Min(operation.Bytes, 1 << 20)) : 0 };
    }

    private bool IsDone() =>
        Source.App?.Immortal is Source { Burst: Simulation.Source.Bursts, Answers: Simulation.Source.Asks } source && Ledger.App?.Immortal is Ledger ledger
        && ledger.Count >= source.Made && Source.IsQuiet && Ledger.IsQuiet && links.All(static link => link.IsQuiet);

    private string Describe() =>
        $"source {(Source.App?.Immortal as Source)?.Made} calls, {(Source.App?.Immortal as Source)?.Answers} answers, ledger {(Ledger.App?.Immortal as Ledger)?.Count}; " +
        $"{links.Count} links, source quiet {Source.IsQuiet}, ledger quiet {Ledger.IsQuiet}";

    private void Judge()
    {
        var source = (Source)Source.App!.Immortal!;
        var ledger = (Ledger)Ledger.App!.Immortal!;
        if (Oracles.Acknowledgements < 5 || Oracles.Sends < 20 || Oracles.Trims < 1)
            throw new SimulationFailure($"the oracles saw {Oracles.Acknowledgements} acknowledgements, {Oracles.Sends} sends and {Oracles.Trims} trims: they prove nothing");
        if (ledger.Count != source.Made) throw new SimulationFailure($"{source.Made} calls made, {ledger.Count} applied (I1)");
        if (ledger.Hash != source.Hash) throw new SimulationFailure($"{ledger.Count} calls applied in another order or with other values (I15)");
        if (source.WrongAnswers != 0 || ledger.Asked != source.Answers) throw new SimulationFailure($"{source.WrongAnswers} wrong answers, {ledger.Asked} asked, {source.Answers} answered (I16)");
    }

    public void Trace(string line) => trace.Add(line);

    private sealed class RandomCrashes(World world) : ICrashPoints
    {
        public void Hit(string name)
        {
            if (world.calm || !world.Faults.Kills || world.Random.Next(4000) != 0) return;
            throw new SimulatedCrash(name);
        }
    }
}
