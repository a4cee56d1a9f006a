using Ambrosia.Coordinator.Admin;
using Ambrosia.Coordinator.LogFeed;
using Ambrosia.Coordinator.Primary;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Log.Fencing;
using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Log.Instances;
using Ambrosia.Log.Reading;
using Ambrosia.Log.Recovery;
using Ambrosia.Log.Segments;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Records;
using Ambrosia.TestKit;
using CRA.Catalog;

namespace Ambrosia.Coordinator.Tests;

/// <summary>One whole coordinator process on a simulated disk; its pumps are the test's hands.</summary>
internal sealed class Node : IPumps
{
    public static readonly byte[] Token = [.. Enumerable.Range(0, 32).Select(static i => (byte)i)];
    public const string Directory = "/data/self";
    private readonly SimulatedProcess _process;
    private readonly LogChain _chain;
    private readonly InstanceIdentity _identity;
    private readonly LogOptions _logOptions;
    private readonly LogFollower? _follower;
    private readonly string? _acceptBuild;
    private readonly UpgradeOptions? _upgrade;
    private readonly long _spillBytes, _checkpointEvery = long.MaxValue;

    /// <param name="spillBytes">Disk for outputs beyond their memory, which is then as small as may be; 0: what is usual.</param>
    /// <param name="checkpointEvery">Log bytes between checkpoints.</param>
    public Node(SimulatedFileSystem disk, FakeTime time, LogOptions log, long spillBytes = 0, long checkpointEvery = long.MaxValue,
        string? acceptBuild = null, UpgradeOptions? upgrade = null)
    {
        (_acceptBuild, _upgrade) = (acceptBuild, upgrade);
        _process = disk.ForProcess($"p{disk.Operations}");
        _process.CreateDirectory("/data");
        Time = time;
        _logOptions = log;
        _spillBytes = spillBytes;
        _checkpointEvery = checkpointEvery;
        _identity = InstanceDirectory.TryRead(_process, Directory)
            ?? InstanceDirectory.Create(_process, Directory, "self", 0, Guid.Parse("11111111-2222-3333-4444-555555555555"), 1, "r0",
                ICrashPoints.None);
        var claimed = Assert.IsType<ClaimResult.Claimed>(PrimaryClaim.TryClaim(_process, Directory, _identity, "r0", ICrashPoints.None));
        PrimaryLog open = TakeOver.Execute(new LogLocation(_process, Directory, _identity), claimed.Fence, "r0", log, time);
        _chain = open.Chain;
        Parts = new Coordinator(InputsOf("r0"), new PrimaryStart(claimed.Fence, claimed.PrimaryLock, open));
    }

    /// <summary>A secondary of the log that another node writes.</summary>
    public Node(SimulatedFileSystem disk, FakeTime time, LogOptions log, string replica)
    {
        _process = disk.ForProcess($"{replica}@{disk.Operations}");
        Time = time;
        _logOptions = log;
        _identity = InstanceDirectory.TryRead(_process, Directory)!;
        _follower = new LogFollower(_process, Directory, _identity);
        while (_follower.Step()) { }
        _chain = _follower.Chain;
        Parts = new Coordinator(InputsOf(replica), _follower);
    }

    private CoordinatorOptions OptionsOf(string replica)
    {
        var usual = new CoordinatorOptions
        {
            LogDirectory = Directory, Instance = "self", Replica = replica, Catalog = CatalogPlace.OfDirectory("/data/catalog"),
                Log = _logOptions,
            CheckpointEveryBytes = _checkpointEvery, AcceptBuild = _acceptBuild, Upgrade = _upgrade,
        };
        return _spillBytes == 0 ? usual : usual with { ScratchBytes = _spillBytes, OutboxBytes = 1 };
    }

    public CoordinatorInputs InputsOf(string replica) => new()
    {
        Options = OptionsOf(replica), Identity = _identity, Files = _process, AppToken = Token, Time = Time, Random = static () => 0.5,
        Pumps = this, Logger = EventRecorder.OfTexts(Lines.Add),
    };

    /// <summary>Reads the log on by so many pages.</summary>
    public void Follow(int pages)
    {
        for (; pages > 0; pages--) _follower!.Step();
        Parts.Followed();
    }

    /// <summary>The role of this secondary, which says to <paramref name="moves"/> how far its app has come.</summary>
    public SecondaryRole NewRole(Action<Lsn> moves) => new(
        Parts, new TakeOverMonitor(_process, _identity, OptionsOf("r1")), _follower!, static _ => null, static () => { }) { Moves = moves };

    /// <summary>The primary is gone: this one takes over.</summary>
    public void BecomePrimary() => Parts.BecomePrimary(TakeLogOver());

    /// <summary>Claims the next epoch and takes the log over; the parts do not know of it yet.</summary>
    public PrimaryStart TakeLogOver()
    {
        var claimed = Assert.IsType<ClaimResult.Claimed>(PrimaryClaim.TryClaim(_process, Directory, _identity, "r1", ICrashPoints.None));
        PrimaryLog open = TakeOver.Execute(
            new LogLocation(_process, Directory, _identity), claimed.Fence, "r1", _logOptions, Time, _follower);
        return new PrimaryStart(claimed.Fence, claimed.PrimaryLock, open);
    }

    public InstanceIdentity Identity => _identity;

    public Coordinator Parts { get; }

    public FakeTime Time { get; }

    public List<string> Lines { get; } = [];

    /// <summary>The primary's heartbeat as observers see it.</summary>
    public ulong Beat
    {
        get
        {
            string file = _process.List(Directory).Single(static name => name.StartsWith("primary.", StringComparison.Ordinal));
            return PrimaryLock.ReadBeat(_process, $"{Directory}/{file}") ?? 0;
        }
    }

    /// <summary>Disk that outputs leave to the log.</summary>
    public long DiskLeftBytes => 2 * _logOptions.SegmentBytes;

    /// <summary>Length of the scratch file.</summary>
    public long SpilledBytes
    {
        get
        {
            if (!_process.Exists($"{Directory}/scratch.r0")) return 0;
            using IFile file = _process.Open($"{Directory}/scratch.r0", FileUse.Read);
            return file.Length;
        }
    }

    public void Commit()
    {
        while (CommitStep() != LogFeed.CommitStep.Park) { }
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
        using var reader = new LogReader(_process, Directory, InstanceDirectory.TryRead(_process, Directory)!, _chain);
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
    public void Kill() => _process.Kill();

    /// <summary>Tests commit when they like; only what a new log begins with, when its first app has come, is durable at once.</summary>
    void IPumps.Commit(bool drained)
    {
        if (Parts is { HasLog: true } && Parts.Log.Durable == Lsn.Zero) Commit();
    }

    void IPumps.WaitForRoom(CancellationToken stop) => throw new InvalidOperationException("a part waits");

    void IPumps.CheckpointWork() { }

    void IPumps.RoomForApp() { }

    void IPumps.TimersChanged() { }

    void IPumps.OutputsWait() => Parts.Links.Admission.TellOutputs();

    void IPumps.Dial() { }

    void IPumps.Fail(int code, string why) => throw new InvalidOperationException($"exit {code}: {why}");
}
