using Ambrosia.Coordinator;
using Ambrosia.Coordinator.LogFeed;
using Ambrosia.Coordinator.Primary;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Coordinator.Upgrades;
using Ambrosia.Log.Fencing;
using Ambrosia.Log.Files;
using Ambrosia.Log.Instances;
using Ambrosia.Log.Reading;
using Ambrosia.Log.Recovery;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Locking;
using Ambrosia.Protocol.Records;
using Ambrosia.TestKit;
using CRA.Catalog;
using Microsoft.Extensions.Logging;

namespace Ambrosia.Simulation;

/// <summary>
/// One replica of an instance: its coordinator process, when there is one, and its app. Plays the pumps of both, in either role: what
/// Pumps/ does in threads is done here in steps.
/// </summary>
internal sealed class SimulatedReplica(World world, SimulatedInstance instance, string name) : IPumps
{
    /// <summary>What is due by a clock with an hour too much on it was promised for later.</summary>
    private const long HourMicros = 3_600_000_000;

    private static readonly byte[] s_token = new byte[32];

    private static readonly TimeSpan s_fenceEvery = TimeSpan.FromMilliseconds(240), s_restsAfterHalt = TimeSpan.FromMilliseconds(500),
        s_stopWithin = TimeSpan.FromSeconds(5);

    private readonly TimeProvider _time = world.Clocks.New();
    private SimulatedProcess? _process;
    private IFileSystem? _files;
    private ReplicaLock? _nameLock;
    private Fence? _fence;
    private CoordinatorOptions? _options;
    private InstanceIdentity? _identity;
    private TakeOverMonitor? _standby;
    private LogFollower? _follower;
    private Housekeeping? _housekeeping;
    private SecondaryRole? _role;
    private TimeSpan? _pausedAt;
    private TimeSpan _pausedUntil, _fenceDue;
    private ReplicaCatalog? _catalog;
    private bool _commitAsked, _mayClaim;

    /// <summary>Its app has rehearsed the upgrade that it is to make, so that it may take over.</summary>
    private bool _hasRehearsed;
    private TimeSpan _pausedSinceOwn;

    /// <summary>So many steps are left of a disk that is busy with something else.</summary>
    private int _heldSteps;
    private int _boots;
    private TimeSpan _restsUntil;

    public InstanceId Id => instance.Id;

    public string Name => name;

    public string Directory => instance.Directory;

    /// <summary>The clock of its machine, and the monotonic time by it.</summary>
    public TimeProvider Time => _time;

    public TimeSpan Now => _time.GetElapsedTime(0);

    /// <summary>The files as its process sees them.</summary>
    public IFileSystem Files => _files ?? throw new InvalidOperationException("no process has begun");

    /// <summary>Its process as the disk knows it; null: none has begun.</summary>
    public SimulatedProcess? OnDisk => _process;

    /// <summary>What its process was started with.</summary>
    public CoordinatorOptions Options => _options ?? throw new InvalidOperationException("no process has begun");

    /// <summary>Where peers reach its process: another port at each start.</summary>
    public string Address => $"127.0.0.{Array.IndexOf(world.Replicas.ToArray(), this) + 1}:{1024 + _boots % 60_000}";

    /// <summary>Takes what its process tells operators.</summary>
    private ILogger Logger => field ??= new EventRecorder(Logged);

    /// <summary>What operators ask of its process; null: there is none that could be asked.</summary>
    public ReplicaOrders? Orders { get; private set; }

    /// <summary>Name of the process that runs, or ran last.</summary>
    public string Process => $"{Id.Name}.{name}#{_boots}";

    public Coordinator.Coordinator? Coordinator { get; private set; }

    public SimulatedApp? App { get; private set; }

    /// <summary>Between the claim of an epoch and its end: what others do meanwhile matters most.</summary>
    public bool IsClaiming { get; private set; }

    /// <summary>It was stopped for so long that it cannot hold itself for primary, and is not any more.</summary>
    public bool MustBeSilent { get; private set; }

    /// <summary>SIGSTOP, until its time has come.</summary>
    public bool IsPaused
    {
        get
        {
            if (_pausedAt is null) return false;
            if (world.Time.Elapsed < _pausedUntil && !world.IsCalm) return true;
            _pausedAt = null;
            MustBeSilent |= Now - _pausedSinceOwn > world.Limits.HangLimit / 2 && world.Oracles.DiskOf(Id).IsSuperseded(Process);
            return false;
        }
    }

    public void Pause(TimeSpan span)
    {
        if (_pausedAt is null) _pausedSinceOwn = Now;
        _pausedAt ??= world.Time.Elapsed;
        _pausedUntil = world.Time.Elapsed + span;
    }

    /// <summary>It has ended with a code that needs a person, and nobody starts it any more.</summary>
    public bool IsHalted { get; private set; }

    /// <summary>Its process runs another build of the app, which has made a call in another way.</summary>
    public bool IsOtherBuild { get; private set; }

    public bool HasDiffered { get; set; }

    /// <summary>A process of it that follows has said at this time that it moves.</summary>
    public TimeSpan MovedAt { get; private set; }

    /// <summary>It is stopped, or the disk under its log does not answer.</summary>
    public bool StandsStill => IsPaused || Hung.Has(Pump.Space);

    /// <summary>It follows, may claim, and nothing keeps it from looking at the primary.</summary>
    public bool IsSoundStandby => Coordinator is { HasLog: false } && _mayClaim && !IsHalted && !IsPaused && !Hung.HasAny;

    /// <summary>The threads of its process that hang.</summary>
    public HungPumps Hung { get; } = new(world);

    /// <summary>Its process ends with a code that needs a person; without one it is started again after a while.</summary>
    public void Halt(bool stays)
    {
        IsHalted = stays;
        RestUntil(world.Time.Elapsed + s_restsAfterHalt);
    }

    /// <summary>It is not started again before.</summary>
    public void RestUntil(TimeSpan time) => _restsUntil = time;

    /// <summary>Starts the coordinator as the executable does: find or make, take the name.</summary>
    private void Boot()
    {
        _boots++;
        IsOtherBuild = world.Builds.IsOther(this);
        HasDiffered = false;
        _process = world.Disk.ForProcess(Process);
        _files = world.FilesOf(this, _process);
        _identity = InstanceDirectory.TryRead(_files, instance.Directory);
        if (_identity is null && instance.Replicas[0] != this) { KillCoordinator(); return; } // the first one makes the instance
        _identity ??= InstanceDirectory.Create(_files, instance.Directory, Id.Name, 0, world.NewUuid(), world.NowMicros, name,
            World.CrashPoints);
        _nameLock = instance.HasRivals ? ReplicaLock.TryTake(_files, instance.Directory, name) : null;
        if (instance.HasRivals && _nameLock is null)
            throw new SimulationFailure($"{Process} finds its name taken although the process before it is dead");
        _options = world.Limits.Of(new CoordinatorOptions
        {
            LogDirectory = instance.Directory, Instance = Id.Name, Replica = name, Catalog = CatalogPlace.OfDirectory("/data/catalog"),
            HangLimit = world.Limits.HangLimit, CheckpointEveryBytes = world.CheckpointEveryBytes,
            CheckpointBoundBytes = world.HasChains ? 1 : null, OutboxBytes = 4 << 20, StopWithin = s_stopWithin, Log = world.LogOptions,
            IgnoreLock = world.StartsWithoutLock(), ForkPolicy = world.NextForkPolicy(), Upgrade = world.Upgrades.OptionsOf(this),
        });
        _standby = new TakeOverMonitor(_files, _identity, _options, newNumber: world.NextClaim);
    }

    /// <summary>
    /// Claims and takes over, or follows whoever holds the lock as soon as there is something to follow. A process of the product claims a
    /// log that is there only once its app was accepted; every second one here does, so that claims meet apps in all their stages.
    /// </summary>
    private void Join()
    {
        IsClaiming = true;
        ClaimResult? result = null;
        _mayClaim = _boots % 2 == 1 && !world.Builds.MustFollow(this);
        if (_mayClaim || !TryFollow())
        {
            do result = _standby!.Try();
            while (result is ClaimResult.Lost);
        }
        if (result is ClaimResult.Claimed claimed)
        {
            _fence = claimed.Fence;
            PrimaryLog log = TakeOver.Execute(
                new LogLocation(_files!, _options!.LogDirectory, _identity!) { Crash = World.CrashPoints }, claimed.Fence, name,
                _options.Log, _time);
            world.Oracles.Promoted(this, log.Writer.Durable, wasSecondary: false);
            Coordinator = new Coordinator.Coordinator(Inputs(), new PrimaryStart(claimed.Fence, claimed.PrimaryLock, log));
        }
        else if (!instance.HasRivals && _mayClaim)
            throw new SimulationFailure($"{Id} finds its lock held although its process is dead");
        else if (TryFollow()) Coordinator = new Coordinator.Coordinator(Inputs(), _follower!);
        if (Coordinator is not null) Begun(Coordinator);
        IsClaiming = false;
    }

    /// <summary>Reads the log as far as it is stated; false: it has no segment yet.</summary>
    private bool TryFollow()
    {
        _follower ??= new LogFollower(_files!, _options!.LogDirectory, _identity!);
        while (_follower.Step()) { }
        return _follower.DigestEvery is not null;
    }

    private void Begun(Coordinator.Coordinator parts)
    {
        parts.Sessions.Admission.Accepted += () => _mayClaim = true;
        if (parts.Upgrades.Parts is { } upgrade)
        {
            upgrade.Rehearsal.Passed += () => _hasRehearsed = true;
            upgrade.Round.Over += hanging => { if (hanging is HangingApp.Old or HangingApp.New) App?.Kill(); };
        }
        Orders = new ReplicaOrders(world, this, parts);
        _housekeeping = new Housekeeping(parts);
        if (!parts.HasLog)
            _role = new SecondaryRole(parts, _standby!, _follower!, NewSpare, () => _nameLock?.PublishAddress(Address))
            {
                Moves = lsn =>
                {
                    MovedAt = world.Time.Elapsed;
                    _nameLock?.PublishMove(lsn);
                },
            };
        _catalog = world.Catalogs.IsUsed ? new ReplicaCatalog(world, this, Inputs(), parts) : null;
    }

    private CoordinatorInputs Inputs()
    {
        CoordinatorInputs inputs = new()
        {
            Options = _options!, Identity = _identity!, Files = _files!, AppToken = s_token, Time = _time,
            Random = world.Random.NextDouble, Pumps = this, Logger = Logger,
        };
        return world.Faults.FastTimers ? inputs with { TimersClock = static log => log.Clock.NowMicros() + HourMicros } : inputs;
    }

    private void StartApp()
    {
        ReadHistory.Reader reader = world.Oracles.NewReader(Id);
        App = new SimulatedApp(world, this, instance.Definition, s_token,
            (bytes, isBeginning) =>
            {
                if (isBeginning && Oracles.IsQuietDigest(bytes)) world.Saw("quiet digest");
                world.Oracles.OnDelivery(this, reader, bytes, isBeginning);
            });
    }

    /// <summary>kill -9 of the coordinator; its app ends with it.</summary>
    public void KillCoordinator()
    {
        _process?.Kill();
        App?.Kill();
        App = null;
        Coordinator = null;
        Orders = null;
        _catalog = null;
        _fence = null;
        _standby = null;
        _follower = null;
        _housekeeping = null;
        _role = null;
        Hung.Clear();
        _pausedAt = null;
        _commitAsked = IsClaiming = MustBeSilent = _mayClaim = _hasRehearsed = false;
        _heldSteps = 0;
        world.Lost(this);
    }

    public void Step(Random random)
    {
        if (IsPaused || IsHalted) return;
        if (Coordinator is not { } parts)
        {
            if (world.Time.Elapsed < _restsUntil && !world.IsCalm) return;
            if (_standby is null) Boot();
            if (_standby is not null) Join();
            return;
        }
        Lsn before = parts.Durable;
        if (Orders!.Step(random)) { }
        else if (parts.HasLog) StepPrimary(parts, random);
        else StepSecondary(parts, random);
        world.Oracles.Moved(this, before, parts.Durable);
    }

    /// <summary>
    /// Nothing is committed until the next app is primary, or for a while: what the log has taken from a dead app is not durable yet.
    /// </summary>
    public void HoldCommits() => _heldSteps = 600;

    private bool MayCommit()
    {
        if (_heldSteps > 0) _heldSteps = App is { IsPrimary: true, IsAlive: true } ? 0 : _heldSteps - 1;
        return _heldSteps == 0 && !Hung.Has(Pump.Commit);
    }

    private void StepPrimary(Coordinator.Coordinator parts, Random random)
    {
        if (IsFenceDue())
        {
            parts.CheckFence();
            return;
        }
        if (!Hung.Has(Pump.Catalog) && _catalog?.Step() == true) return;
        bool mayCommit = MayCommit();
        switch (random.Next(10))
        {
            case 0 when mayCommit: parts.Committer.Step(); break;
            case 1 when _commitAsked && mayCommit: CommitAll(); break;
            case 2 when !Hung.Has(Pump.Checkpoints): world.Scarcity.StepCheckpoints(this, static checkpoints => checkpoints.Step()); break;
            case 3 when random.Next(4) == 0 && !Hung.Has(Pump.Housekeeping): _housekeeping!.Step(Now); break;
            case 4 when random.Next(8) == 0 && !Hung.Has(Pump.Space): _commitAsked |= parts.Space.Step().MustCommit; break;
            case 5 when random.Next(8) == 0 && !Hung.Has(Pump.Fence): parts.CheckFence(); break;
            case 6 when random.Next(4) == 0: parts.Links.Admission.TellOutputs(); Dial(); break;
            case 7 when world.HasTimersAndTasks || world.Lone is not null: parts.FireTimers(); break;
            case 8 when world.PoisonEvery > 0 && world.Shape.Next(300) == 0: Orders!.Decide(); break;
            default: StepApp(random); break;
        }
    }

    private void Dial()
    {
        if (_catalog is null) world.Dial(this);
        else _catalog.Dial();
    }

    /// <summary>
    /// Where its turn comes too seldom to leave it to chance, a primary looks at its fence, and beats, as often as its pump does.
    /// </summary>
    private bool IsFenceDue()
    {
        if (Hung.Has(Pump.Fence) || (!world.Limits.AreDrawn && instance.Replicas.Length < 3) || Now < _fenceDue) return false;
        _fenceDue = Now + s_fenceEvery;
        return true;
    }

    private void StepSecondary(Coordinator.Coordinator parts, Random random)
    {
        if ((Orders!.IsClaimAsked || _hasRehearsed) && _mayClaim)
        {
            Orders.IsClaimAsked = _hasRehearsed = false;
            BecomePrimary(parts, () => _standby!.TryTakeOver(_follower!.Epoch));
            return;
        }
        bool isFollowHung = Hung.Has(Pump.Follow); // whoever claims waits for it
        switch (random.Next(10))
        {
            case 0 or 1 when !isFollowHung: Follow(parts); break;
            case 2 when (!isFollowHung || world.Builds.MayFind(this)) && _mayClaim: BecomePrimary(parts, () => _standby!.Try()); break;
            case 3 when !Hung.Has(Pump.Housekeeping): _housekeeping!.Step(Now); break;
            case 4 when !Hung.Has(Pump.Checkpoints): world.Scarcity.StepCheckpoints(this, static checkpoints => checkpoints.Step()); break;
            case 5 when random.Next(4) == 0 && !Hung.Has(Pump.Checkpoints):
                world.Scarcity.StepCheckpoints(this, static checkpoints => checkpoints.CompareStates());
                break;
            default: StepApp(random); break;
        }
    }

    private void Follow(Coordinator.Coordinator parts)
    {
        SecondaryStep step = _role!.Step(Now, CancellationToken.None);
        if (world.Faults.EagerSecondary) world.AcknowledgeAs(this);
        if (step.Hanging is not { } epoch || !_mayClaim) return;
        world.Trace($"{Process}: the primary of epoch {epoch} hangs");
        BecomePrimary(parts, () => _standby!.TryTakeOver(epoch));
    }

    private void BecomePrimary(Coordinator.Coordinator parts, Func<ClaimResult?> claim)
    {
        IsClaiming = true;
        ClaimResult? result = claim();
        if (result is ClaimResult.Claimed claimed)
        {
            _fence = claimed.Fence;
            PrimaryLog log = TakeOver.Execute(
                new LogLocation(_files!, _options!.LogDirectory, _identity!) { Crash = World.CrashPoints }, claimed.Fence, name,
                _options.Log, _time, _follower, _role!.Spare);
            world.Oracles.Promoted(this, log.Writer.Durable, wasSecondary: true);
            parts.BecomePrimary(new PrimaryStart(claimed.Fence, claimed.PrimaryLock, log));
            world.Trace($"{Process} leads from {log.Writer.Durable}");
        }
        else if (result is ClaimResult.Held) parts.Sessions.Admission.FollowAnother();
        IsClaiming = false;
    }

    private PromotionSpare? NewSpare(Epoch follows)
    {
        try
        {
            return PromotionSpare.Create(_files!, _options!.LogDirectory, name, follows, _options.Log);
        }
        catch (IOException)
        {
            return null;
        }
    }

    private void StepApp(Random random)
    {
        if (App is { HasEnded: true, HasStopped: true }) world.Restart(this);
        if (App is null || App.HasEnded) StartApp();
        else App.Step(random);
    }

    private void CommitAll()
    {
        _commitAsked = false;
        while (Coordinator!.Committer.Step() != CommitStep.Park) { }
    }

    /// <summary>Everything that was accepted has been executed and nothing is under way.</summary>
    public bool IsQuiet => Coordinator switch
    {
        { IsPrimary: true } primary =>
            App is { IsPrimary: true, IsQuiet: true } && primary.Log.Durable == primary.Log.Tail && !primary.Checkpoints.HasWork,
        { HasLog: false, Sessions.IsCaughtUp: true } => App is { IsQuiet: true },
        _ => false,
    };

    void IPumps.Commit(bool drained)
    {
        if (drained) LockChecks.BeforeCommit();
        _commitAsked = true;
    }

    void IPumps.WaitForRoom(CancellationToken stop) => throw new SimulationFailure("a part waits");

    void IPumps.CheckpointWork() { }

    void IPumps.RoomForApp() { }

    void IPumps.TimersChanged() { }

    void IPumps.OutputsWait() { }

    void IPumps.Dial() { }

    void IPumps.Fail(int code, string why) => throw new ProcessEnd(this, code, why);

    /// <summary>It held an epoch, and another process has claimed a later one: what it finds of the disk says nothing.</summary>
    public bool HasLostFence()
    {
        bool isLost = false;
        if (_fence is { } fence && _process is { IsAlive: true }) world.Undisturbed(() => isLost = IsLost(fence));
        return isLost;
    }

    private static bool IsLost(Fence fence)
    {
        try
        {
            fence.Check();
            return false;
        }
        catch (FenceLostException)
        {
            return true;
        }
        catch (IOException)
        {
            return false;
        }
    }

    /// <summary>An event of the coordinator: it belongs to the trace, and some must not happen.</summary>
    private void Logged(RecordedEvent happened)
    {
        string line = happened.ToString();
        world.Trace($"{Process}: {line}");
        world.Upgrades.Logged(line);
        if (happened.Name == "coordinator.handed.over") Orders!.HandedOver(happened.Text.Split(' ')[1]);
        if (happened.Name == "coordinator.follower.missing") world.Saw("no replica goes on");
        // The hello of a former primary; or of a dead process, on a connection that was so slow that the next one was heard first.
        bool isOfRivals = world.Instances.Any(
            each => each.HasRivals && line.Contains($"{each.Id.Name} comes with epoch", StringComparison.Ordinal));
        if ((isOfRivals || world.Weather.HarmsLinks) && line.Contains(" was seen: a replaced primary ends")) return;
        if (world.Weather.MayOvertake && line.Contains("another connection overtook this hello", StringComparison.Ordinal))
        {
            world.Saw("hello overtaken");
            return;
        }
        if (world.Deleted is { IsDeleted: true } deleted && line.Contains("(P6.3)")) { deleted.Refusals++; return; } // as it must be
        if (line.Contains("(P6.4)") || line.Contains("(P6.5)") || line.Contains("(P6.3)"))
            throw new SimulationFailure($"{Process}: {line}");
    }
}
