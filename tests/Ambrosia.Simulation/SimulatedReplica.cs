using System.Text;
using System.Text.Json.Nodes;
using Ambrosia.Coordinator;
using Ambrosia.Log;
using Ambrosia.Protocol;
using Ambrosia.TestKit;

namespace Ambrosia.Simulation;

/// <summary>
/// One replica of an instance: its coordinator process, when there is one, and its app. Plays the pumps of both, in either role: what
/// Pumps/ does in threads is done here in steps.
/// </summary>
internal sealed class SimulatedReplica(World world, SimulatedInstance instance, string name) : IPumps
{
    private static readonly byte[] token = new byte[32];

    private SimulatedProcess? process;
    private IFileSystem? files;
    private CoordinatorOptions? options;
    private InstanceIdentity? identity;
    private Standby? standby;
    private LogFollower? follower;
    private PromotionSpare? spare;
    private TimeSpan? pausedAt;
    private TimeSpan pausedUntil;
    private readonly AdminCommands commands = new();
    private bool commitAsked;

    /// <summary>So many steps are left of a disk that is busy with something else.</summary>
    private int heldSteps;
    private int boots;

    public InstanceId Id => instance.Id;

    /// <summary>Name of the process that runs, or ran last.</summary>
    public string Process => $"{Id.Name}.{name}#{boots}";

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
            if (pausedAt is not { } begin) return false;
            if (world.Time.Elapsed < pausedUntil && !world.IsCalm) return true;
            pausedAt = null;
            MustBeSilent |= world.Time.Elapsed - begin > world.HangLimit / 2 && world.Oracles.DiskOf(Id).IsSuperseded(Process);
            return false;
        }
    }

    public void Pause(TimeSpan span)
    {
        pausedAt ??= world.Time.Elapsed;
        pausedUntil = world.Time.Elapsed + span;
    }

    /// <summary>Starts the coordinator as the executable does: find or make, take the name.</summary>
    private void Boot()
    {
        boots++;
        process = world.Disk.ForProcess(Process);
        files = world.FilesOf(this, process);
        identity = InstanceDirectory.TryRead(files, instance.Directory);
        if (identity is null && instance.Replicas[0] != this) { KillCoordinator(); return; } // the first one makes the instance
        identity ??= InstanceDirectory.Create(files, instance.Directory, Id.Name, 0, world.NewUuid(), world.NowMicros, name,
            World.CrashPoints);
        if (instance.HasRivals && ReplicaLock.TryTake(files, instance.Directory, name) is null)
            throw new SimulationFailure($"{Process} finds its name taken although the process before it is dead");
        options = new CoordinatorOptions
        {
            LogDirectory = instance.Directory, Instance = Id.Name, Replica = name, CatalogDirectory = "/data/catalog",
            HangLimit = world.HangLimit, CheckpointEveryBytes = world.CheckpointEveryBytes,
            CheckpointBoundBytes = world.HasChains ? 1 : null, OutboxBytes = 4 << 20, Log = world.LogOptions,
            IgnoreLock = world.StartsWithoutLock(), ForkPolicy = world.NextForkPolicy(),
        };
        standby = new Standby(files, identity, options);
    }

    /// <summary>Claims and takes over, or follows whoever holds the lock as soon as there is something to follow.</summary>
    private void Join()
    {
        ClaimResult? result;
        IsClaiming = true;
        do result = standby!.Try();
        while (result is ClaimResult.Lost);
        if (result is ClaimResult.Claimed claimed)
        {
            OpenLog log = TakeOver.Run(files!, options!.LogDirectory, identity!, claimed.Fence, name, options.Log, world.Time,
                World.CrashPoints);
            world.Oracles.Promoted(this, log.Writer.Durable, wasSecondary: false);
            Coordinator = new Coordinator.Coordinator(Inputs(), new Leadership(claimed.Fence, claimed.PrimaryLock, log));
        }
        else if (!instance.HasRivals) throw new SimulationFailure($"{Id} finds its lock held although its process is dead");
        else
        {
            follower ??= new LogFollower(files!, options!.LogDirectory, identity!);
            while (follower.Step()) { }
            if (follower.DigestEvery is not null) Coordinator = new Coordinator.Coordinator(Inputs(), follower);
        }
        IsClaiming = false;
    }

    private CoordinatorInputs Inputs() => new(options!, identity!, files!, token, world.TimersClock, world.Random.NextDouble, this);

    private void StartApp()
    {
        ReadHistory.Reader reader = world.Oracles.NewReader(Id);
        App = new SimulatedApp(world, this, instance.Definition, token,
            (bytes, isBeginning) => world.Oracles.OnDelivery(this, reader, bytes, isBeginning));
    }

    /// <summary>kill -9 of the coordinator; its app ends with it.</summary>
    public void KillCoordinator()
    {
        process?.Kill();
        App?.Kill();
        App = null;
        Coordinator = null;
        standby = null;
        follower = null;
        spare = null;
        pausedAt = null;
        commitAsked = IsClaiming = MustBeSilent = false;
        heldSteps = 0;
        world.Lost(this);
    }

    public void Step(Random random)
    {
        if (IsPaused) return;
        if (Coordinator is not { } parts)
        {
            if (standby is null) Boot();
            if (standby is not null) Join();
            return;
        }
        Lsn before = parts.Durable;
        if (parts.HasLog) StepPrimary(parts, random);
        else StepSecondary(parts, random);
        world.Oracles.Moved(this, before, parts.Durable);
    }

    /// <summary>
    /// Nothing is committed until the next app is primary, or for a while: what the log has taken from a dead app is not durable yet.
    /// </summary>
    public void HoldCommits() => heldSteps = 600;

    private bool MayCommit()
    {
        if (heldSteps > 0) heldSteps = App is { IsPrimary: true, IsAlive: true } ? 0 : heldSteps - 1;
        return heldSteps == 0;
    }

    private void StepPrimary(Coordinator.Coordinator parts, Random random)
    {
        bool mayCommit = MayCommit();
        switch (random.Next(10))
        {
            case 0 when mayCommit: parts.Committer.Step(); break;
            case 1 when commitAsked && mayCommit: CommitAll(); break;
            case 2: parts.Checkpoints.Step(); break;
            case 3 when random.Next(4) == 0: parts.Tick(isQuiet: random.Next(2) == 0); break;
            case 4 when random.Next(8) == 0: parts.Log.PrepareSpace(); break;
            case 5 when random.Next(8) == 0: parts.CheckFence(); break;
            case 6 when random.Next(4) == 0: parts.TellOutputs(); world.Dial(this); break;
            case 7 when world.HasErrands: parts.FireTimers(); break;
            case 8 when world.PoisonEvery > 0 && world.Shape.Next(300) == 0: Decide(parts); break;
            default: StepApp(random); break;
        }
    }

    private void StepSecondary(Coordinator.Coordinator parts, Random random)
    {
        switch (random.Next(10))
        {
            case 0: Follow(parts); break;
            case 1: LookAtPrimary(parts); break;
            case 2: Lead(parts, () => standby!.Try()); break;
            case 3: PrepareSpare(); break;
            case 4: parts.Checkpoints.Step(); break;
            case 5 when random.Next(4) == 0: parts.CompareStates(); parts.LetGoOfLog(); break;
            default: StepApp(random); break;
        }
    }

    private void Follow(Coordinator.Coordinator parts)
    {
        while (follower!.Step()) { }
        parts.Followed();
        if (world.Faults.EagerSecondary) world.AcknowledgeAs(this);
    }

    private void LookAtPrimary(Coordinator.Coordinator parts)
    {
        if (standby!.FindHanging(world.Time.Elapsed) is not { } epoch) return;
        world.Trace($"{Process}: the primary of epoch {epoch} hangs");
        Lead(parts, () => standby.TryOver(epoch));
    }

    private void Lead(Coordinator.Coordinator parts, Func<ClaimResult?> claim)
    {
        IsClaiming = true;
        if (claim() is ClaimResult.Claimed claimed)
        {
            OpenLog log = TakeOver.Run(
                files!, options!.LogDirectory, identity!, claimed.Fence, name, options.Log, world.Time, World.CrashPoints, follower, spare);
            world.Oracles.Promoted(this, log.Writer.Durable, wasSecondary: true);
            parts.Lead(new Leadership(claimed.Fence, claimed.PrimaryLock, log));
            world.Trace($"{Process} leads from {log.Writer.Durable}");
        }
        IsClaiming = false;
    }

    private void PrepareSpare()
    {
        if (spare?.Epoch == follower!.Epoch) { spare.Prepare(); return; }
        spare?.Dispose();
        spare = PromotionSpare.Create(files!, options!.LogDirectory, name, follower.Epoch, options.Log);
    }

    private void StepApp(Random random)
    {
        if (App is { HasEnded: true, HasStopped: true }) world.Restart(this);
        if (App is null || App.HasEnded) StartApp();
        else App.Step(random);
    }

    /// <summary>What an operator does with messages that were set aside: one is tried again, or dropped.</summary>
    private void Decide(Coordinator.Coordinator parts)
    {
        parts.AddCommands(commands);
        if (!Ask("list", "").Any(answer => answer["message"] is not null)) return;
        string[] places = [.. Ask("list", "").Select(static answer => (string?)answer["message"]).OfType<string>()];
        string action = world.Shape.Next(3) == 0 ? "drop" : "retry", place = places[world.Shape.Next(places.Length)];
        world.Trace($"{Process}: {action} {place}");
        foreach (JsonObject _ in Ask(action, place)) { }
    }

    /// <summary>The answers that come at once.</summary>
    private IEnumerable<JsonObject> Ask(string action, string place)
    {
        IAdminReply reply = commands.Begin(
            Encoding.UTF8.GetBytes(new JsonObject { ["command"] = "quarantine", ["action"] = action, ["message"] = place }.ToJsonString()));
        for (bool isLast = false; !isLast && reply.Next(out isLast) is { } answer;) yield return answer;
    }

    private void CommitAll()
    {
        commitAsked = false;
        while (Coordinator!.Committer.Step() != Ambrosia.Coordinator.CommitStep.Park) { }
    }

    /// <summary>Everything that was accepted has been executed and nothing is under way.</summary>
    public bool IsQuiet => Coordinator switch
    {
        { IsPrimary: true } primary =>
            App is { IsPrimary: true, IsQuiet: true } && primary.Log.Durable == primary.Log.Tail && !primary.Checkpoints.HasWork,
        { HasLog: false, IsCaughtUp: true } => App is { IsQuiet: true },
        _ => false,
    };

    void IPumps.Commit(bool drained) => commitAsked = true;

    void IPumps.WaitForRoom(CancellationToken stop) => throw new SimulationFailure("a part waits");

    void IPumps.CheckpointWork() { }

    void IPumps.RoomForApp() { }

    void IPumps.TimersChanged() { }

    void IPumps.OutputsWait() { }

    void IPumps.Dial() { }

    void IPumps.Fail(int code, string why)
    {
        if (code != ExitCodes.NotPrimary) throw new SimulationFailure($"{Process} exits with {code}: {why}");
        throw new ReplacedPrimary(this);
    }

    void IPumps.Say(string line)
    {
        world.Trace($"{Process}: {line}");
        if (instance.HasRivals && line.Contains(" was seen: a replaced primary ends")) return; // of a former primary
        if (world.Deleted is { IsDeleted: true } deleted && line.Contains("(P6.3)")) { deleted.Refusals++; return; } // as it must be
        if (line.Contains("(P6.4)") || line.Contains("(P6.5)") || line.Contains("(P6.3)"))
            throw new SimulationFailure($"{Process}: {line}");
    }
}

/// <summary>A coordinator learns from a peer that it is primary no more, and exits with 75.</summary>
internal sealed class ReplacedPrimary(SimulatedReplica replica) : Exception($"{replica.Process} is primary no more")
{
    public SimulatedReplica Replica { get; } = replica;
}
