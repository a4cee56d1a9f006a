using Ambrosia.Coordinator;
using Ambrosia.Log;
using Ambrosia.Protocol;
using Ambrosia.TestKit;

namespace Ambrosia.Simulation;

/// <summary>One instance: its coordinator process, when there is one, and its app. Plays the pumps of both.</summary>
internal sealed class SimulatedReplica(World world, string name, ImmortalDefinition definition) : IPumps
{
    private static readonly byte[] token = new byte[32];

    private SimulatedProcess? process;
    private bool commitAsked;
    private int boots;

    public InstanceId Id { get; } = new(name);

    public Coordinator.Coordinator? Coordinator { get; private set; }

    public SimulatedApp? App { get; private set; }

    public string Directory => $"/data/{Id.Name}";

    /// <summary>Starts the coordinator as the executable does: find or make, claim, take over, recover.</summary>
    public void Boot()
    {
        process = world.Disk.ForProcess($"{Id.Name}#{++boots}");
        IFileSystem files = world.Oracles.DiskOf(Id).Watch(process);
        if (world.Faults.LyingDisk) files = new LyingFiles(files);
        if (world.Faults.BlindFence) files = new BlindFiles(files);
        InstanceIdentity identity = InstanceDirectory.TryRead(files, Directory)
            ?? InstanceDirectory.Create(files, Directory, Id.Name, 0, world.NewUuid(), world.NowMicros, "r0", world.CrashPoints);
        ClaimResult claim;
        do claim = PrimaryClaim.Try(files, Directory, identity, "r0", world.CrashPoints);
        while (claim is ClaimResult.Lost);
        if (claim is not ClaimResult.Claimed claimed) throw new SimulationFailure($"{Id} finds its lock held although its process is dead");
        var options = new CoordinatorOptions
        {
            LogDirectory = Directory, Instance = Id.Name, CatalogDirectory = "/data/catalog",
            CheckpointEveryBytes = world.CheckpointEveryBytes, OutboxBytes = 4 << 20, Log = world.LogOptions,
        };
        OpenLog log = TakeOver.Run(files, Directory, identity, claimed.Fence, "r0", options.Log, world.Time, world.CrashPoints);
        Coordinator = new Coordinator.Coordinator(new CoordinatorInputs(options, identity, files, token, world.Time, world.Random.NextDouble, this),
            new Leadership(claimed.Fence, claimed.PrimaryLock, log));
    }

    public void StartApp() => App = new SimulatedApp(Coordinator!, definition, token, bytes => world.Oracles.OnDelivery(Id, bytes), line => world.Trace($"{Id} app: {line}"));

    /// <summary>kill -9 of the coordinator; its app ends with it.</summary>
    public void KillCoordinator()
    {
        process?.Kill();
        App = null;
        Coordinator = null;
        commitAsked = false;
        world.Lost(this);
    }

    public void Step(Random random)
    {
        if (Coordinator is null) { Boot(); return; }
        switch (random.Next(10))
        {
            case 0: CommitStep(); break;
            case 1 when commitAsked: CommitAll(); break;
            case 2: Coordinator.Checkpoints.Step(); break;
            case 3 when random.Next(4) == 0: Coordinator.Tick(isQuiet: random.Next(2) == 0); break;
            case 4 when random.Next(8) == 0: Coordinator.Log.PrepareSpace(); break;
            case 5 when random.Next(8) == 0: Coordinator.CheckFence(); break;
            case 6 when random.Next(4) == 0: world.Dial(this); break;
            default: StepApp(random); break;
        }
    }

    private void StepApp(Random random)
    {
        if (App is null || App.HasEnded) StartApp();
        else App.Step(random);
    }

    private void CommitStep() => Coordinator!.Committer.Step();

    private void CommitAll()
    {
        commitAsked = false;
        while (Coordinator!.Committer.Step() != Ambrosia.Coordinator.CommitStep.Park) { }
    }

    /// <summary>Everything that was accepted has been executed and nothing is under way.</summary>
    public bool IsQuiet => Coordinator is { IsPrimary: true } c && App is { IsPrimary: true, IsQuiet: true } && c.Log.Durable == c.Log.Tail && !c.Checkpoints.HasWork;

    void IPumps.Commit(bool drained) => commitAsked = true;

    void IPumps.WaitForRoom(CancellationToken stop) => throw new SimulationFailure("a part waits");

    void IPumps.CheckpointWork() { }

    void IPumps.RoomForApp() { }

    void IPumps.Dial() { }

    void IPumps.Fail(int code, string why) => throw new SimulationFailure($"{Id} exits with {code}: {why}");

    void IPumps.Say(string line)
    {
        world.Trace($"{Id}: {line}");
        if (line.Contains("(P6.4)") || line.Contains("(P6.5)") || line.Contains("(P6.3)")) throw new SimulationFailure($"{Id}: {line}");
    }
}
