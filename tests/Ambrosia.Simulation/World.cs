using System.Buffers;
using Ambrosia.Coordinator.Links;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Records;
using Ambrosia.TestKit;

namespace Ambrosia.Simulation;

/// <summary>
/// One to four instances of the real coordinator and binding on one simulated disk, network and clock, in one thread. A seed decides every
/// step: who moves, how many bytes arrive, what breaks. After the faults everything must come to rest with every call applied once, in
/// order.
/// </summary>
internal sealed class World
{
    private const int FaultySteps = 60_000, CalmStepsMax = 3_000_000;

    private readonly List<SimulatedLink> _links = [];
    private readonly SimulationTrace _trace = new();
    private readonly SimulatedRandom _shape;
    private readonly bool _hasReplicas, _hasLocklessRivals;
    private readonly Verdict _verdict;
    private readonly Breakage _breakage;
    private readonly Availability _availability;
    private readonly SortedDictionary<string, int> _sights = new(StringComparer.Ordinal);
    private bool _calm;
    private ulong _claims;

    [ThreadStatic]
    private static World? s_ofThisThread;

    public World(ulong seed, Faults faults)
    {
        s_ofThisThread = this;
        Seed = seed;
        Faults = faults;
        Strikes = new Strikes(faults.Chosen);
        Oracles = new Oracles(faults.Watched);
        Random = new SimulatedRandom(seed);
        Disk = new SimulatedFileSystem(seed ^ 0xD15C);
        _breakage = new Breakage(this);
        Disk.BeforeOperation = _breakage.BeforeFileOperation;
        Crash.Arm(CrashPoints);
        _shape = new SimulatedRandom(seed ^ 0x5E7); // its own, so that a seed's world without replicas stays what it was
        _hasReplicas = faults.Replicas ?? seed % 2 == 0;
        int which = _hasReplicas ? _shape.Next(3) : -1;
        if (faults.DeadMarks && which == 1) which = 2;
        _hasLocklessRivals = _hasReplicas && _shape.Next(4) == 0;
        Shapes = new Shapes(this, seed);
        Clocks = new Clocks(this, seed);
        Source = new SimulatedInstance(this, "source", ImmortalDefinition.Of<Source>(), which is 0 or 2 ? Shapes.Replicas() : 1);
        Ledger = new SimulatedInstance(this, "ledger", ImmortalDefinition.Of<Ledger>(), which is 1 or 2 ? Shapes.Replicas() : 1);
        CheckpointEveryBytes = Random.Next(4) == 0 ? long.MaxValue : 4096 * Random.Next(1, 60);
        LogOptions = new LogOptions
        {
            SegmentBytes = 4096 * Random.Next(20, 300), PageBytes = 4096 * Random.Next(2, 16), Pages = Random.Next(2, 5),
            ZeroWindowBytes = 4096 * Random.Next(0, 40),
            PagesKept = (int)(seed % 4), // few, so that delivery often reads the segment
        };
        Limits = new Limits(this, seed);
        LogOptions = Limits.Of(LogOptions);
        HasChains = faults.Chains ?? (faults.Deletes != true && seed % 7 == 5);
        if (HasChains) CheckpointEveryBytes = 4096 * _shape.Next(1, 6);
        HasTimersAndTasks = faults.TimersAndTasks ?? seed % 4 >= 2;
        PoisonEvery = faults.Poison ?? seed % 3 == 0 ? 29u : 0;
        Whim = faults.Whim ? new SimulatedRandom(seed) : null;
        Dice = faults.RollingDice ? new SimulatedRandom(seed) : null;
        if (LoneInstance.IsDrawn(faults, seed)) Lone = new LoneInstance(this, seed);
        else if (faults.Deletes ?? (faults is { Caller: null, Impulses: null, Chains: null } && seed % 7 == 4 && seed % 5 != 3))
            Deleted = new DeletedPeer(this);
        else if (faults.Caller ?? seed % 5 == 3) Caller = new SimulatedCaller(this, Ledger, seed);
        if (Deleted is null && Lone is null && (faults.Impulses ?? seed % 5 == 1)) Senders = new ImpulseSenders(this, seed);
        Clerks = new Clerks(this, seed);
        Instances = Lone is null ? [Source, Ledger, .. Clerks.All] : [Lone.Instance];
        if (Lone is not null) Saw("one instance");
        Hangs = new Hangs(this, seed);
        _availability = new Availability(this);
        Rot = new Rot(this, seed);
        BadSectors = new BadSectors(this, seed);
        Ghosts = new Ghosts(this, seed);
        Scarcity = new Scarcity(this, seed);
        Weather = new Weather(this, seed);
        Operators = new Operators(this, seed);
        Catalogs = new Catalogs(this, seed);
        Halts = new Halts(this);
        Builds = new Builds(this, seed);
        Upgrades = new Upgrades(this, seed);
        _verdict = new Verdict(this);
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
    public ulong TriedAgain { get; set; }

    public ulong Seed { get; }

    /// <summary>Null: nobody calls from outside.</summary>
    public SimulatedCaller? Caller { get; }

    /// <summary>Null: the ledger lives.</summary>
    public DeletedPeer? Deleted { get; }

    public ImpulseSenders? Senders { get; }

    public Faults Faults { get; }

    /// <summary>Every fault that was injected so far, and which of them are let happen.</summary>
    public Strikes Strikes { get; }

    public Clerks Clerks { get; }

    /// <summary>Null: there are several instances.</summary>
    public LoneInstance? Lone { get; }

    public Hangs Hangs { get; }

    public Weather Weather { get; }

    public Shapes Shapes { get; }

    public Clocks Clocks { get; }

    public Limits Limits { get; }

    public Operators Operators { get; }

    public Catalogs Catalogs { get; }

    public Halts Halts { get; }

    public Rot Rot { get; }

    public BadSectors BadSectors { get; }

    public Ghosts Ghosts { get; }

    public Scarcity Scarcity { get; }

    public Builds Builds { get; }

    public Upgrades Upgrades { get; }

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

    public IReadOnlyList<SimulatedInstance> Instances { get; }

    public IEnumerable<SimulatedReplica> Replicas => Instances.SelectMany(static instance => instance.Replicas);

    /// <summary>The faults are over.</summary>
    public bool IsCalm => _calm;

    /// <summary>When the faults ended, and for how long the world took from there to come to rest.</summary>
    public TimeSpan CalmSince { get; private set; }

    public TimeSpan Rested { get; private set; }

    /// <summary>
    /// Who starts now claims whatever locks say. Not everyone: two that are always started so replace one another for ever, each take-over
    /// with a segment more to read, and nothing else happens in that world.
    /// </summary>
    public bool StartsWithoutLock() => _hasLocklessRivals && !_calm && _shape.Next(4) == 0;

    /// <summary>Numbers a claim. No two of a world have one number, and the world's chance has no part in it.</summary>
    public ulong NextClaim() => ++_claims;

    /// <summary>How often something broke: kills, power losses and cut links among them.</summary>
    public int Crashes { get; set; }

    public ulong TraceHash => _trace.Hash;

    /// <summary>The hash of the steps without a word of what was said: it outlives a change of texts.</summary>
    public ulong StepHash => _trace.StepHash;

    public long NowMicros => Time.GetUtcNow().ToUnixTimeMilliseconds() * 1000;

    /// <summary>Whose code runs: who dies when a crash is thrown.</summary>
    public SimulatedReplica? Running { get; set; }

    public Guid NewUuid()
    {
        byte[] bytes = new byte[16];
        Random.NextBytes(bytes);
        return new Guid(bytes);
    }

    public SimulatedInstance InstanceOf(InstanceId id) => Instances.First(instance => instance.Id == id);

    /// <exception cref="SimulationFailure">An invariant broke; the message repeats the seed.</exception>
    public void Run()
    {
        try
        {
            for (int i = 0; i < FaultySteps && !_verdict.IsDone(); i++) Step();
            EndFaults();
            Rest();
            Rested = Time.Elapsed - CalmSince;
            if (Rot.Struck is { IsHalted: false } struck) StartAgain(struck, "damage where nothing is needed");
            if (BadSectors.Struck is { IsHalted: false } bad) StartAgain(bad, "bad sector where nothing is needed");
            _verdict.Judge();
        }
        catch (Exception e) when (e is not SimulationFailure { Data.Count: > 0 })
        {
            throw new SimulationFailure($"seed {Seed}: {e.GetType().Name}: {e.Message}\n{string.Join('\n', _trace.Tail)}\n{e.StackTrace}");
        }
    }

    private void Rest()
    {
        for (int i = 0; !_verdict.IsDone(); i++)
        {
            if (i == CalmStepsMax || Time.Elapsed - CalmSince > Verdict.RestMax)
                throw new SimulationFailure(
                    $"no rest {Time.Elapsed - CalmSince} after the faults, in {i} steps (I22): {_verdict.Describe()}");
            Step();
        }
    }

    /// <summary>What was damaged is read once more, by processes that remember nothing: they halt, or come to rest again.</summary>
    private void StartAgain(SimulatedInstance instance, string sight)
    {
        foreach (SimulatedReplica replica in instance.Replicas) replica.KillCoordinator();
        Rest();
        if (!instance.IsHalted) Saw(sight);
    }

    private void EndFaults()
    {
        _calm = true;
        CalmSince = Time.Elapsed;
        Weather.Clear();
        Scarcity.Clear();
        Catalogs.Clear();
        Builds.Clear();
        Upgrades.Clear();
    }

    private void Step()
    {
        if (Caller is not null && Caller.TakesTurn()) { Run(null, Caller.Step); return; }
        Deleted?.Step();
        if (Senders is not null && Senders.TakesTurn()) { Senders.Step(); return; }
        SimulatedInstance instance = Instances[Random.Next(Instances.Count)];
        if (!_calm)
        {
            Weather.Step();
            Operators.Step();
            Catalogs.Step();
            Rot.Step();
            BadSectors.Step();
            Ghosts.Step();
            Scarcity.Step();
            Builds.Step();
            Upgrades.Step();
            Hangs.Step();
        }
        if (!_calm && Random.Next(600) == 0) _breakage.Break(instance);
        else if (_links.Count > 0 && Random.Next(3) == 0) Run(null, StepLink);
        else
        {
            SimulatedReplica replica = PickOf(instance);
            Run(replica, () => replica.Step(Random));
        }
        if (Random.Next(10 * Instances.Count) == 0) Time.Advance(TimeSpan.FromMilliseconds(Random.Next(1, 30)));
        _availability.Step();
        _trace.AddStep(Random.Position);
    }

    public SimulatedReplica PickOf(SimulatedInstance instance) =>
        instance.HasRivals ? Random.Pick(instance.Replicas) : instance.Replicas[0];

    /// <summary>Lets a replica act; what kills it kills it alone.</summary>
    public void Run(SimulatedReplica? replica, Action act)
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
        catch (ProcessEnd end)
        {
            Exit(end.Replica, end.Code, end.Message, null);
        }
        catch (Exception fatal) when (Running is not null && CodeOf(fatal) is not null)
        {
            if (!Exit(Running, CodeOf(fatal)!.Value, fatal.Message, fatal)) throw;
        }
    }

    /// <summary>As the pumps have it: a log that holds what it must not is damaged, as far as it was damaged at all.</summary>
    private int? CodeOf(Exception fatal) =>
        fatal is ProtocolViolation && Halts.IsExpected(Running!.Id, ExitCodes.Damage) ? ExitCodes.Damage : ExitCodes.Of(fatal);

    /// <summary>A process ends with a code; false: it must not.</summary>
    private bool Exit(SimulatedReplica replica, int code, string why, Exception? fatal)
    {
        if (code is ExitCodes.Io or ExitCodes.Damage or ExitCodes.System && replica.HasLostFence()) code = ExitCodes.NotPrimary;
        switch (code)
        {
            case ExitCodes.Ok: break;
            case ExitCodes.NotPrimary: Oracles.NotPrimary(replica); break;
            case ExitCodes.Io when fatal is IOException met && Weather.IsOurs(replica, met):
                replica.RestUntil(Time.Elapsed + Weather.RestartsAfter());
                break;
            case ExitCodes.Io when Halts.TryTake(replica, code): break;
            case ExitCodes.Io when fatal is null && Weather.FailsDisks:
                replica.RestUntil(Time.Elapsed + Weather.RestartsAfter());
                break;
            case ExitCodes.System when Scarcity.IsOurs(replica, fatal):
                replica.RestUntil(Time.Elapsed + Weather.RestartsAfter());
                break;
            case ExitCodes.Damage or ExitCodes.Divergence when Halts.TryTake(replica, code): break;
            case ExitCodes.OtherAppVersion when Upgrades.TryTakeOld(replica): break;
            default:
                if (fatal is not null) return false;
                throw new SimulationFailure($"{replica.Process} exits with {code}: {why}");
        }
        Trace($"{replica.Process} exits with {code}: {why}");
        if (code == ExitCodes.Divergence) Builds.Leaves(replica);
        replica.KillCoordinator();
        if (code == ExitCodes.Divergence) Builds.Diverged(replica);
        return true;
    }

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

    public void KillAll()
    {
        foreach (SimulatedReplica replica in Replicas.ToArray()) replica.KillCoordinator();
    }

    public void Lost(SimulatedReplica dead)
    {
        foreach (SimulatedLink link in _links) link.Lost(dead);
        Caller?.Lost(dead);
        _links.RemoveAll(static link => link.HasEnded);
    }

    public void Dial(SimulatedReplica from)
    {
        if (Faults.GivesUp && _calm) return;
        foreach (InstanceId peer in from.Coordinator!.Links.PeersToDial())
        {
            SimulatedReplica[] there = InstanceOf(peer).Reachable;
            if (there.Length > 0)
                _links.Add(new SimulatedLink(this, from, there.Length == 1 ? there[0] : Random.Pick(there), (uint)Random.Next()));
            if (there.Length > 0 && Weather.DialsTwice()) _links.Add(new SimulatedLink(this, from, there[0], (uint)Random.Next()));
            from.Coordinator.Links.Table.Dialled(peer, TimeSpan.Zero, there.Length > 0 ? null : DialFailure.NoAnswer);
        }
    }

    /// <summary>Connects to whoever listens there now; false: nobody does.</summary>
    public bool TryConnect(SimulatedReplica from, string address)
    {
        if (Replicas.FirstOrDefault(replica => replica.Coordinator is not null && replica.Address == address) is not { } there)
            return false;
        _links.Add(new SimulatedLink(this, from, there, (uint)Random.Next()));
        if (Weather.DialsTwice()) _links.Add(new SimulatedLink(this, from, there, (uint)Random.Next()));
        return true;
    }

    /// <summary>What somebody from outside does to the disk: nobody else acts meanwhile.</summary>
    public void Undisturbed(Action act)
    {
        Disk.BeforeOperation = null;
        act();
        Disk.BeforeOperation = _breakage.BeforeFileOperation;
    }

    /// <summary>The files that a process of this replica sees, with what is planted.</summary>
    public IFileSystem FilesOf(SimulatedReplica replica, IFileSystem files)
    {
        if (Faults.AmnesicDisk) files = new AmnesicFiles(files);
        if (Faults.SharedClaims) files = new SharedClaims(files);
        files = Oracles.DiskOf(replica.Id).Watch(files, replica.Process);
        if (Faults.LyingDisk) files = new LyingFiles(files);
        if (Faults.BlindFence) files = new BlindFiles(files);
        if (Faults.WishfulMoves || Faults.PatientStandbys)
            files = new WishfulFiles(files, Faults.PatientStandbys, () => replica.Coordinator?.Durable ?? Lsn.Zero);
        if (Faults.MoodyDisk) files = new MoodyFiles(files);
        if (Faults.LostNumbers) files = new NumberlessFiles(files);
        if (Faults.HastyNames) files = new HastyNames(files, () => replica is { IsOtherBuild: true, Coordinator.HasLog: false });
        if (Faults.ReadRepair) files = new ReadRepair(files, () => replica.Coordinator is { HasLog: false });
        return files;
    }

    /// <summary>Negative control, see <see cref="Faults.EagerSecondary"/>.</summary>
    public void AcknowledgeAs(SimulatedReplica replica)
    {
        var frame = new ArrayBufferWriter<byte>();
        FrameWriter.Write(frame, new Ack(0, default, 0), seed: 0, checkPayload: true);
        InstanceId other = replica.Id == Ledger.Id ? Source.Id : Ledger.Id;
        Oracles.OnLink(replica, other, Oracles.LifeOf(other), frame.WrittenSpan, seed: 0);
    }

    public void Trace(string line) => _trace.Add(line);

    /// <summary>Adds a number that a step depends on, or comes to.</summary>
    public void TraceStep(ulong value) => _trace.AddStep(value);

    /// <summary>Counts something rare.</summary>
    /// <param name="sight">One of <see cref="Simulation.Sights"/>; null: it was nothing rare.</param>
    public void Saw(string? sight)
    {
        if (sight is not null) _sights[sight] = _sights.GetValueOrDefault(sight) + 1;
    }

    private sealed class RandomCrashes : ICrashPoints
    {
        public void Hit(string name)
        {
            World world = OfThisThread;
            if (world._calm || !world.Faults.Kills || world.Random.Next(4000) != 0 || !world.Strikes.Strike($"crash at {name}")) return;
            throw new SimulatedCrash(name);
        }
    }
}
