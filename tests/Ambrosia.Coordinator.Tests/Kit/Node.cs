using Ambrosia.Log;
using Ambrosia.Protocol;
using Ambrosia.TestKit;

namespace Ambrosia.Coordinator.Tests;

/// <summary>One whole coordinator process on a simulated disk; its pumps are the test's hands.</summary>
internal sealed class Node : IPumps
{
    public static readonly byte[] Token = [.. Enumerable.Range(0, 32).Select(static i => (byte)i)];
    public const string Directory = "/data/self";
    private readonly SimulatedProcess process;
    private readonly LogChain chain;
    private readonly InstanceIdentity identity;
    private readonly LogOptions logOptions;
    private readonly LogFollower? follower;
    private readonly long spillBytes, checkpointEvery = long.MaxValue;

    /// <param name="spillBytes">Disk for outputs beyond their memory, which is then as small as may be; 0: what is usual.</param>
    /// <param name="checkpointEvery">Log bytes between checkpoints.</param>
    public Node(SimulatedFileSystem disk, FakeTime time, LogOptions log, long spillBytes = 0, long checkpointEvery = long.MaxValue)
    {
        process = disk.ForProcess($"p{disk.Operations}");
        process.CreateDirectory("/data");
        Time = time;
        logOptions = log;
        this.spillBytes = spillBytes;
        this.checkpointEvery = checkpointEvery;
        identity = InstanceDirectory.TryRead(process, Directory)
            ?? InstanceDirectory.Create(process, Directory, "self", 0, Guid.Parse("11111111-2222-3333-4444-555555555555"), 1, "r0",
                NoCrashPoints.Instance);
        var claimed = Assert.IsType<ClaimResult.Claimed>(PrimaryClaim.Try(process, Directory, identity, "r0", NoCrashPoints.Instance));
        OpenLog open = TakeOver.Run(process, Directory, identity, claimed.Fence, "r0", log, time, NoCrashPoints.Instance);
        chain = open.Chain;
        Parts = new Coordinator(InputsOf("r0"), new Leadership(claimed.Fence, claimed.PrimaryLock, open));
    }

    /// <summary>A secondary of the log that another node writes.</summary>
    public Node(SimulatedFileSystem disk, FakeTime time, LogOptions log, string replica)
    {
        process = disk.ForProcess($"{replica}@{disk.Operations}");
        Time = time;
        logOptions = log;
        identity = InstanceDirectory.TryRead(process, Directory)!;
        follower = new LogFollower(process, Directory, identity);
        while (follower.Step()) { }
        chain = follower.Chain;
        Parts = new Coordinator(InputsOf(replica), follower);
    }

    private CoordinatorOptions OptionsOf(string replica)
    {
        var usual = new CoordinatorOptions
        {
            LogDirectory = Directory, Instance = "self", Replica = replica, CatalogDirectory = "/data/catalog", Log = logOptions,
            CheckpointEveryBytes = checkpointEvery
        };
        return spillBytes == 0 ? usual : usual with { ScratchBytes = spillBytes, OutboxBytes = 1 };
    }

    private CoordinatorInputs InputsOf(string replica) => new(
        OptionsOf(replica),
        identity, process, Token, Time, static () => 0.5, this);

    /// <summary>Reads the log on by so many pages.</summary>
    public void Follow(int pages)
    {
        for (; pages > 0; pages--) follower!.Step();
        Parts.Followed();
    }

    /// <summary>The primary is gone: this one takes over.</summary>
    public void Lead()
    {
        var claimed = Assert.IsType<ClaimResult.Claimed>(PrimaryClaim.Try(process, Directory, identity, "r1", NoCrashPoints.Instance));
        OpenLog open = TakeOver.Run(process, Directory, identity, claimed.Fence, "r1", logOptions, Time, NoCrashPoints.Instance, follower);
        Parts.Lead(new Leadership(claimed.Fence, claimed.PrimaryLock, open));
    }

    public Coordinator Parts { get; }

    public FakeTime Time { get; }

    public List<string> Lines { get; } = [];

    /// <summary>Disk that outputs leave to the log.</summary>
    public long DiskLeftBytes => 2 * logOptions.SegmentBytes;

    /// <summary>Length of the scratch file.</summary>
    public long SpilledBytes
    {
        get
        {
            if (!process.Exists($"{Directory}/scratch.r0")) return 0;
            using IFile file = process.Open($"{Directory}/scratch.r0", FileUse.Read);
            return file.Length;
        }
    }

    public void Commit()
    {
        while (CommitStep() != Ambrosia.Coordinator.CommitStep.Park) { }
    }

    /// <summary>One step of the committer; space is prepared when it waits for that.</summary>
    public CommitStep CommitStep()
    {
        CommitStep step = Parts.Committer.Step();
        while (Parts.Log.IsAwaitingSpace && !Parts.Log.IsSpaceShort)
        {
            Parts.Log.PrepareSpace();
            step = Parts.Committer.Step();
        }
        return step;
    }

    /// <summary>Every durable record's place, and what it says where it is a digest.</summary>
    public List<(Lsn Lsn, DigestRecord? Digest)> Records()
    {
        var records = new List<(Lsn, DigestRecord?)>();
        using var reader = new LogReader(process, Directory, InstanceDirectory.TryRead(process, Directory)!, chain);
        var buffer = new PageBuffer();
        for (Lsn at = Lsn.Zero; at < Parts.Log.Durable; at = buffer.Next)
        {
            Assert.Equal(ReadStatus.Page, reader.Read(at, ref buffer));
            var page = new RecordReader(buffer.Records, buffer.RecordsLsn);
            while (page.Next()) records.Add((page.Lsn, page.Kind == RecordKind.Digest ? page.Read<DigestRecord>() : null));
        }
        return records;
    }

    /// <summary>An operator gives a peer up.</summary>
    public void Forget(InstanceId peer)
    {
        var commands = new AdminCommands();
        Parts.AddCommands(commands);
        commands.Begin(System.Text.Encoding.UTF8.GetBytes($$"""{"command":"forget-peer","peer":"{{peer}}"}""")).Next(out _);
    }

    /// <summary>kill -9.</summary>
    public void Kill() => process.Kill();

    void IPumps.Commit(bool drained) { }

    void IPumps.WaitForRoom(CancellationToken stop) => throw new InvalidOperationException("a part waits");

    void IPumps.CheckpointWork() { }

    void IPumps.RoomForApp() { }

    void IPumps.TimersChanged() { }

    void IPumps.OutputsWait() => Parts.TellOutputs();

    void IPumps.Dial() { }

    void IPumps.Fail(int code, string why) => throw new InvalidOperationException($"exit {code}: {why}");

    void IPumps.Say(string line) => Lines.Add(line);
}
