using System.Buffers;
using Ambrosia.Coordinator.Links;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Log.Fencing;
using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Locking;
using Ambrosia.Protocol.Records;
using Ambrosia.TestKit;

namespace Ambrosia.Simulation;

/// <summary>
/// Two instances of the real coordinator and binding on one simulated disk, network and clock, in one thread. A seed decides every step:
/// who moves, how many bytes arrive, what breaks. After the faults everything must come to rest with every call applied once, in order.
/// </summary>
internal sealed class World
{
    private const int FaultySteps = 60_000, CalmStepsMax = 3_000_000;

    private readonly List<SimulatedLink> _links = [];
    private readonly SimulationTrace _trace = new();
    private readonly SimulatedRandom _shape;
    private readonly bool _hasReplicas, _hasLocklessRivals;
    private readonly SimulatedCaller? _caller;
    private readonly DeletedPeer? _deleted;
    private readonly ImpulseSenders? _senders;
    private readonly Weather _weather;
    private readonly SortedDictionary<string, int> _sights = new(StringComparer.Ordinal);
    private bool _calm, _isNested;
    private int _fileCrashIn;

    [ThreadStatic]
    private static World? s_ofThisThread;

    public World(ulong seed, Faults faults)
    {
        s_ofThisThread = this;
        Seed = seed;
        Faults = faults;
        Oracles = new Oracles(faults.Watched);
        Random = new SimulatedRandom(seed);
        Disk = new SimulatedFileSystem(seed ^ 0xD15C);
        Disk.BeforeOperation = BeforeFileOperation;
        Crash.Arm(CrashPoints);
        _shape = new SimulatedRandom(seed ^ 0x5E7); // its own, so that a seed's world without replicas stays what it was
        _hasReplicas = faults.Replicas ?? seed % 2 == 0;
        int which = _hasReplicas ? _shape.Next(3) : -1;
        _hasLocklessRivals = _hasReplicas && _shape.Next(4) == 0;
        Source = new SimulatedInstance(this, "source", ImmortalDefinition.Of<Source>(), which is 0 or 2 ? 2 : 1);
        Ledger = new SimulatedInstance(this, "ledger", ImmortalDefinition.Of<Ledger>(), which is 1 or 2 ? 2 : 1);
        CheckpointEveryBytes = Random.Next(4) == 0 ? long.MaxValue : 4096 * Random.Next(1, 60);
        LogOptions = new LogOptions
        {
            SegmentBytes = 4096 * Random.Next(20, 300), PageBytes = 4096 * Random.Next(2, 16), Pages = Random.Next(2, 5),
            ZeroWindowBytes = 4096 * Random.Next(0, 40),
            PagesKept = (int)(seed % 4), // few, so that delivery often reads the segment
        };
        HasChains = faults.Chains ?? (faults.Deletes != true && seed % 7 == 5);
        if (HasChains) CheckpointEveryBytes = 4096 * _shape.Next(1, 6);
        HasTimersAndTasks = faults.TimersAndTasks ?? seed % 4 >= 2;
        PoisonEvery = faults.Poison ?? seed % 3 == 0 ? 29u : 0;
        Whim = faults.Whim ? new SimulatedRandom(seed) : null;
        Dice = faults.RollingDice ? new SimulatedRandom(seed) : null;
        if (faults.Deletes ?? (faults is { Caller: null, Impulses: null, Chains: null } && seed % 7 == 4 && seed % 5 != 3))
            _deleted = new DeletedPeer(this);
        else if (faults.Caller ?? seed % 5 == 3) _caller = new SimulatedCaller(this, Ledger, seed);
        if (_deleted is null && (faults.Impulses ?? seed % 5 == 1)) _senders = new ImpulseSenders(this, seed);
        _weather = new Weather(this, seed);
        Disk.CreateDirectory("/data");
        Disk.FlushDirectory("/");
        Disk.FlushDirectory("/data");
    }

    /// <summary>The one that lives on this thread, for what is static in a process: an app's surroundings, and the crash points.</summary>
    public static World OfThisThread => s_ofThisThread ?? throw new InvalidOperationException("no world has begun on this thread");

    /// <summary>Those of the world that meets one.</summary>
    public static ICrashPoints CrashPoints { get; } = new RandomCrashes();

    /// <summary>Chance of its own for what not every world has, so that the others stay what they were.</summary>
    public SimulatedRandom Shape => _shape;

    /// <summary>How often a failing handler has ended an app for good, until its coordinator was started anew.</summary>
    public int Stops { get; private set; }

    /// <summary>Messages that were tried again by the time that everything came to rest.</summary>
    public ulong TriedAgain { get; private set; }

    public ulong Seed { get; }

    public SimulatedCaller? Caller => _caller;

    /// <summary>Null: the ledger lives.</summary>
    public DeletedPeer? Deleted => _deleted;

    public ImpulseSenders? Senders => _senders;

    public Faults Faults { get; }

    public Weather Weather => _weather;

    public IReadOnlyList<SimulatedLink> Links => _links;

    /// <summary>How often each rare thing was met in this world.</summary>
    public IReadOnlyDictionary<string, int> Sights => _sights;

    public Oracles Oracles { get; }

    public SimulatedRandom Random { get; }

    public SimulatedFileSystem Disk { get; }

    public FakeTime Time { get; } = new();

    /// <summary>The source has timers and tasks in flight.</summary>
    public bool HasTimersAndTasks { get; }

    /// <summary>Chains of awaited calls are under way; checkpoints wait for no quiet moment.</summary>
    public bool HasChains { get; }

    /// <summary>How often an app went on from an image with suspended handlers in it.</summary>
    public int Continued { get; set; }

    /// <summary>Each so manyth call to the ledger throws when it comes first, and has taken effect all the same; 0: none does.</summary>
    public ulong PoisonEvery { get; }

    /// <summary>For the negative control only: a handler that throws by chance.</summary>
    public Random? Whim { get; }

    /// <summary>For the negative control only: what no immortal may look at.</summary>
    public Random? Dice { get; }

    /// <summary>How often a task's body has run: each run finds another value outside.</summary>
    public ulong Drawn { get; set; }

    public LogOptions LogOptions { get; }

    public long CheckpointEveryBytes { get; }

    public SimulatedInstance Source { get; }

    public SimulatedInstance Ledger { get; }

    public TimeSpan HangLimit { get; } = TimeSpan.FromSeconds(2);

    /// <summary>The faults are over.</summary>
    public bool IsCalm => _calm;

    /// <summary>
    /// Who starts now claims whatever locks say. Not everyone: two that are always started so replace one another for ever, each take-over
    /// with a segment more to read, and nothing else happens in that world.
    /// </summary>
    public bool StartsWithoutLock() => _hasLocklessRivals && !_calm && _shape.Next(4) == 0;

    public int Crashes { get; private set; }

    public ulong TraceHash => _trace.Hash;

    /// <summary>The hash of the steps without a word of what was said: it outlives a change of texts.</summary>
    public ulong StepHash => _trace.StepHash;

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
            _calm = true;
            _weather.Clear();
            for (int i = 0; !IsDone(); i++)
            {
                if (i == CalmStepsMax) throw new SimulationFailure($"no rest after the faults (I22): {Describe()}");
                Step();
            }
            Judge();
        }
        catch (Exception e) when (e is not SimulationFailure { Data.Count: > 0 })
        {
            throw new SimulationFailure($"seed {Seed}: {e.GetType().Name}: {e.Message}\n{string.Join('\n', _trace.Tail)}\n{e.StackTrace}");
        }
    }

    private void Step()
    {
        if (_caller is not null && _caller.TakesTurn()) { Run(null, _caller.Step); return; }
        _deleted?.Step();
        if (_senders is not null && _senders.TakesTurn()) { _senders.Step(); return; }
        SimulatedInstance instance = Random.Next(2) == 0 ? Source : Ledger;
        if (!_calm) _weather.Step();
        if (!_calm && Random.Next(600) == 0) Break(instance);
        else if (_links.Count > 0 && Random.Next(3) == 0) Run(null, StepLink);
        else
        {
            SimulatedReplica replica = PickOf(instance);
            Run(replica, () => replica.Step(Random));
        }
        if (Random.Next(20) == 0) Time.Advance(TimeSpan.FromMilliseconds(Random.Next(1, 30)));
        _trace.AddStep(Random.Position);
    }

    private SimulatedReplica PickOf(SimulatedInstance instance) =>
        instance.HasRivals ? Random.Pick(instance.Replicas) : instance.Replicas[0];

    /// <summary>Lets a replica act; what kills it kills it alone.</summary>
    private void Run(SimulatedReplica? replica, Action act)
    {
        Running = replica;
        try
        {
            act();
        }
        catch (SimulatedCrash)
        {
            Trace($"{Running!.Id} crashed in the middle");
            Crashes++;
            Running.KillCoordinator();
        }
        catch (IOException e) when (Running is not null && _weather.IsOurs(e))
        {
            Trace($"{Running!.Process} exits with 74: {e.Message}");
            Running.KillCoordinator();
            Running.RestUntil(Time.Elapsed + _weather.RestartsAfter());
        }
        catch (FenceLostException)
        {
            End(Running!);
        }
        catch (ReplacedPrimary replaced)
        {
            End(replaced.Replica);
        }
    }

    private void End(SimulatedReplica replaced)
    {
        Trace($"{replaced.Process} exits with 75");
        Oracles.NotPrimary(replaced);
        replaced.KillCoordinator();
    }

    /// <summary>Whose code runs: who dies when a crash is thrown.</summary>
    public SimulatedReplica? Running { get; set; }

    /// <summary>What a coordinator is started with: stop only where there is an operator yet to start it with something else.</summary>
    public ForkPolicy NextForkPolicy() =>
        PoisonEvery == 0 ? ForkPolicy.Continue : (ForkPolicy)(_calm ? 2 * _shape.Next(2) : _shape.Next(3));

    /// <summary>
    /// An app that the policy has stopped: it is started again a few times, until an operator starts its coordinator with another policy.
    /// </summary>
    public void Restart(SimulatedReplica replica)
    {
        if (_shape.Next(3) != 0) return;
        Stops++;
        throw new SimulatedCrash($"{replica.Process} is started with another fork policy");
    }

    private void StepLink()
    {
        SimulatedLink link = Random.Pick(_links);
        link.Step(Random);
        if (link.HasEnded) _links.Remove(link);
    }

    private void Break(SimulatedInstance instance)
    {
        Crashes++;
        if (instance.HasRivals && Random.Next(2) == 0) { BreakReplica(instance); return; }
        switch (Random.Next(6))
        {
            case 0 when Faults.Kills: Trace($"kill coordinator {instance.Id}"); PickOf(instance).KillCoordinator(); break;
            case 1 when Faults.Kills: Trace($"kill app {instance.Id}"); PickOf(instance).App?.Kill(); break;
            case 2 when Faults.Kills: Trace("kill all"); KillAll(); break;
            case 3 when Faults.PowerLosses:
                Trace("power loss");
                KillAll();
                Disk.PowerLoss(Random.NextUInt64());
                Oracles.PowerLost();
                break;
            case 4 when Faults.BrokenLinks && _links.Count > 0: Random.Pick(_links).Break("cut"); break;
            case 5 when Faults.Kills: _fileCrashIn = Random.Next(1, 40); break;
        }
    }

    /// <summary>What matters where there is another to go on.</summary>
    private void BreakReplica(SimulatedInstance instance)
    {
        SimulatedReplica[] primaries = instance.Reachable;
        if (primaries.Length == 0) return;
        SimulatedReplica primary = Random.Pick(primaries);
        if (Random.Next(3) == 0 && Faults.Kills)
        {
            Trace($"kill primary {primary.Process}");
            primary.KillCoordinator();
            return;
        }
        TimeSpan span = HangLimit * Random.Next(1, 9) / 2;
        Trace($"stop {primary.Process} for {span}");
        primary.Pause(span);
    }

    private void KillAll()
    {
        foreach (SimulatedReplica replica in (SimulatedReplica[])[.. Source.Replicas, .. Ledger.Replicas]) replica.KillCoordinator();
    }

    public void Lost(SimulatedReplica dead)
    {
        foreach (SimulatedLink link in _links) link.Lost(dead);
        _caller?.Lost(dead);
        _links.RemoveAll(static link => link.HasEnded);
    }

    public void Dial(SimulatedReplica from)
    {
        foreach (InstanceId peer in from.Coordinator!.Links.PeersToDial())
        {
            SimulatedReplica[] there = (peer == Source.Id ? Source : Ledger).Reachable;
            if (there.Length > 0)
                _links.Add(new SimulatedLink(this, from, there.Length == 1 ? there[0] : Random.Pick(there), (uint)Random.Next()));
            if (there.Length > 0 && _weather.DialsTwice()) _links.Add(new SimulatedLink(this, from, there[0], (uint)Random.Next()));
            from.Coordinator.Links.Table.Dialled(peer, TimeSpan.Zero, there.Length > 0 ? null : DialFailure.NoAnswer);
        }
    }

    /// <summary>What somebody from outside does to the disk: nobody else acts meanwhile.</summary>
    public void Undisturbed(Action act)
    {
        Disk.BeforeOperation = null;
        act();
        Disk.BeforeOperation = BeforeFileOperation;
    }

    /// <summary>A crash in the middle of a file operation.</summary>
    private void BeforeFileOperation(FileOperation operation)
    {
        _trace.AddStep((ulong)operation.Bytes);
        if (!_isNested && Running is { } replica) LetRivalAct(replica);
        if (_calm || _fileCrashIn == 0 || !operation.Changes || --_fileCrashIn > 0) return;
        throw new SimulatedCrash($"at {operation}")
        {
            BytesWritten = operation.Bytes > 0 ? Random.Next((int)Math.Min(operation.Bytes, 1 << 20)) : 0
        };
    }

    /// <summary>
    /// Between two file operations of one replica another one acts, above all while an epoch is claimed and a log taken over.
    /// </summary>
    private void LetRivalAct(SimulatedReplica replica)
    {
        SimulatedInstance instance = replica.Id == Source.Id ? Source : Ledger;
        if (!instance.HasRivals || Random.Next(replica.IsClaiming ? 6 : 60) != 0) return;
        SimulatedReplica rival = PickOf(instance);
        if (rival == replica) return;
        _isNested = true;
        LockChecks.AsAnotherThread(() => Run(rival, () => rival.Step(Random)));
        _isNested = false;
        Running = replica;
    }

    /// <summary>The files that a process of this replica sees, with what is planted.</summary>
    public IFileSystem FilesOf(SimulatedReplica replica, IFileSystem files)
    {
        if (Faults.AmnesicDisk) files = new AmnesicFiles(files);
        if (Faults.SharedClaims) files = new SharedClaims(files);
        files = Oracles.DiskOf(replica.Id).Watch(files, replica.Process);
        if (Faults.LyingDisk) files = new LyingFiles(files);
        if (Faults.BlindFence) files = new BlindFiles(files);
        if (Faults.ReadRepair) files = new ReadRepair(files, () => replica.Coordinator is { HasLog: false });
        return files;
    }

    /// <summary>Negative control, see <see cref="Faults.EagerSecondary"/>.</summary>
    public void AcknowledgeAs(SimulatedReplica replica)
    {
        var frame = new ArrayBufferWriter<byte>();
        FrameWriter.Write(frame, new Ack(0, default, 0), seed: 0, checkPayload: true);
        InstanceId other = replica.Id == Source.Id ? Ledger.Id : Source.Id;
        Oracles.OnLink(replica, other, Oracles.LifeOf(other), frame.WrittenSpan, seed: 0);
    }

    private bool IsDone() =>
        Source.App?.Immortal is Source { IsDone: true } source && Ledger.App?.Immortal is Ledger ledger
        && _deleted is not { IsDeleted: true, IsForgotten: false } && ledger.Count >= source.Made && _caller is not { IsDone: false }
        && _senders is not { IsDone: false }
        && Source.Replicas.All(r => r.App?.Immortal is Source s && s.IsAt(source) && s.Marks.Count == source.Marks.Count)
        && Ledger.Replicas.All(r => r.App?.Immortal is Ledger l && l.IsAt(ledger) && r.App.MessagesSetAside == Ledger.App.MessagesSetAside)
        && Source.IsQuiet && Ledger.IsQuiet && _links.All(static link => link.IsQuiet);

    private string Describe() =>
        $"source {(Source.App?.Immortal as Source)?.Made} calls, {(Source.App?.Immortal as Source)?.Answers} answers, {(Source.App?.Immortal as Source)?.Rounds} rounds, {(Source.App?.Immortal as Source)?.Ticks} ticks, ledger {(Ledger.App?.Immortal as Ledger)?.Count}; " +
        $"{_links.Count} links, source quiet {Source.IsQuiet}, ledger quiet {Ledger.IsQuiet}";

    private void Judge()
    {
        var source = (Source)Source.App!.Immortal!;
        var ledger = (Ledger)Ledger.App!.Immortal!;
        if (Oracles.Acknowledgements < 5 || Oracles.Sends < 20 || Oracles.Trims < 1)
            throw new SimulationFailure(
                $"the oracles saw {Oracles.Acknowledgements} acknowledgements, {Oracles.Sends} sends and {Oracles.Trims} trims: they prove nothing");
        if (ledger.Count != source.Made) throw new SimulationFailure($"{source.Made} calls made, {ledger.Count} applied (I1)");
        if (ledger.Hash != source.Hash)
            throw new SimulationFailure($"{ledger.Count} calls applied in another order or with other values (I15)");
        if (Source.Replicas.Any(r => ((Source)r.App!.Immortal!).Hash != source.Hash)
            || Ledger.Replicas.Any(r => ((Ledger)r.App!.Immortal!).Hash != ledger.Hash))
            throw new SimulationFailure("two replicas have executed the same calls and differ (I8)");
        JudgeTimersAndTasks(source);
        ChainOracle.Judge(source, ledger);
        _caller?.Judge(ledger);
        _senders?.Judge(source, ledger);
        if (Source.Replicas.Any(r => !((Source)r.App!.Immortal!).Marks.SequenceEqual(source.Marks)))
            throw new SimulationFailure("two replicas have executed the same impulses and differ (I8)");
        if (Ledger.Replicas.Any(
            r => ((Ledger)r.App!.Immortal!).Place != ledger.Place || !((Ledger)r.App!.Immortal!).Effects.SequenceEqual(ledger.Effects)))
            throw new SimulationFailure("two replicas have executed the same calls from outside and differ (I8)");
        if (source.WrongAnswers != 0 || ledger.Asked != source.Answers)
            throw new SimulationFailure($"{source.WrongAnswers} wrong answers, {ledger.Asked} asked, {source.Answers} answered (I16)");
        JudgePoison(ledger);
    }

    /// <summary>Every execution has set aside, tried again and dropped the same.</summary>
    private void JudgePoison(Ledger ledger)
    {
        if (PoisonEvery == 0) return;
        if ((ulong)ledger.Thrown.Count != ledger.Count / PoisonEvery)
            throw new SimulationFailure($"{ledger.Thrown.Count} of {ledger.Count} calls have thrown (L5.12)");
        TriedAgain = ledger.TriedAgain;
        foreach (SimulatedReplica replica in Ledger.Replicas)
        {
            var other = (Ledger)replica.App!.Immortal!;
            if (!other.Thrown.SequenceEqual(ledger.Thrown) || other.TriedAgain != ledger.TriedAgain
                || replica.App.MessagesSetAside != Ledger.App!.MessagesSetAside)
                throw new SimulationFailure(
                    $"{replica.Process} keeps {replica.App.MessagesSetAside} messages and has tried {other.TriedAgain} again, another {Ledger.App!.MessagesSetAside} and {ledger.TriedAgain} (L5.12)");
        }
    }

    private void JudgeTimersAndTasks(Source source)
    {
        if (!HasTimersAndTasks) return;
        if (Oracles.TimersAndTasks.Results < (int)Simulation.Source.RoundsWanted
            || Oracles.TimersAndTasks.Fired < (int)(Simulation.Source.RoundsWanted + Simulation.Source.TicksWanted))
            throw new SimulationFailure(
                $"the oracles saw {Oracles.TimersAndTasks.Results} results and {Oracles.TimersAndTasks.Fired} timers: they prove nothing");
        Oracles.JudgeTasks(source.Results);
        if (source.WrongResults != 0 || (ulong)source.Results.Count != source.Rounds)
            throw new SimulationFailure(
                $"{source.Rounds} tasks, {source.Results.Count} results, {source.WrongResults} of them twice (I17)");
        if (source.WrongTimes != 0 || source.Ticks != Simulation.Source.TicksWanted)
            throw new SimulationFailure($"{source.WrongTimes} timers fired at a time that cannot be, {source.Ticks} ticks");
        if (Source.Replicas.Any(r => ((Source)r.App!.Immortal!).TimersAndTasksHash() != source.TimersAndTasksHash()))
            throw new SimulationFailure("two replicas have executed the same timers and tasks and differ (I8)");
    }

    public void Trace(string line) => _trace.Add(line);

    /// <summary>Counts something rare.</summary>
    /// <param name="sight">One of <see cref="Weather.Sights"/>; null: it was nothing rare.</param>
    public void Saw(string? sight)
    {
        if (sight is not null) _sights[sight] = _sights.GetValueOrDefault(sight) + 1;
    }

    private sealed class RandomCrashes : ICrashPoints
    {
        public void Hit(string name)
        {
            World world = OfThisThread;
            if (world._calm || !world.Faults.Kills || world.Random.Next(4000) != 0) return;
            throw new SimulatedCrash(name);
        }
    }
}
