using Ambrosia.Log.Checkpoints;
using Ambrosia.Log.Commit;
using Ambrosia.Log.Fencing;
using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Log.Instances;
using Ambrosia.Log.Pages;
using Ambrosia.Log.Reading;
using Ambrosia.Log.Recovery;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Checkpoints;
using Ambrosia.Protocol.Records;
using Ambrosia.Protocol.Runs;

namespace Ambrosia.Tools.Tests;

/// <summary>Acts as a primary whose log a test writes by hand, on real files, with the product's own writer.</summary>
internal sealed class LogMaker : IDisposable
{
    public static readonly LogOptions Small = new()
    {
        SegmentBytes = 256 << 10, PageBytes = 16 << 10, Pages = 4, ZeroWindowBytes = 32 << 10
    };

    private readonly PosixFileSystem _files = new();
    private readonly PrimaryLock _lock;
    private readonly Dictionary<(RecordKind, uint), ulong> _numbers = [];

    private LogMaker(string directory, InstanceIdentity identity, Fence fence, PrimaryLock held, PrimaryLog log)
    {
        Directory = directory;
        Identity = identity;
        Fence = fence;
        _lock = held;
        Log = log;
    }

    public string Directory { get; }
    public InstanceIdentity Identity { get; }
    public Fence Fence { get; }
    public PrimaryLog Log { get; }
    public LogWriter Writer => Log.Writer;

    /// <summary>Turns what stands in a segment from an offset on into zeros, as writes that were lost leave it; its length stays.</summary>
    public static void Tear(string segment, long offset)
    {
        using FileStream file = File.OpenWrite(segment);
        long whole = file.Length;
        file.SetLength(offset);
        file.SetLength(whole);
    }

    public static LogMaker Start(string directory, TimeProvider? time = null, LogOptions? options = null)
    {
        var files = new PosixFileSystem();
        InstanceIdentity identity = InstanceDirectory.Create(
            files, directory, "counter", 0, Guid.Parse("0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0"), 1_000_000, "r0", ICrashPoints.None);
        ClaimResult result = null!;
        // A process that another test is starting has the descriptors of this one until it becomes another program, the lock's among them.
        SpinWait.SpinUntil(
            () => (result = PrimaryClaim.TryClaim(files, directory, identity, "r0", ICrashPoints.None)) is ClaimResult.Claimed,
            TimeSpan.FromSeconds(30));
        var claimed = Assert.IsType<ClaimResult.Claimed>(result);
        PrimaryLog log = TakeOver.Execute(
            new LogLocation(files, directory, identity), claimed.Fence, "r0", options ?? Small, time ?? TimeProvider.System);
        return new LogMaker(directory, identity, claimed.Fence, claimed.PrimaryLock, log);
    }

    public Lsn Append<T>(T record) where T : IRecordBody<T> => Append(RecordKinds.Encode(record), T.Kind);

    /// <summary>Appends the first record of all.</summary>
    public void Begin(uint appVersion = 7) =>
        Assert.True(Writer.TryAppendVersion(Lsn.Zero, RecordKind.FirstStart,
            RecordKinds.Encode(new FirstStartRecord(Identity.Uuid, 1_000_000, appVersion, "counter")), appVersion));

    /// <summary>Appends a peer of the instance with its origin id.</summary>
    public void Peer(uint origin, string name) => Append(new PeerRecord(origin, new InstanceId(name), Guid.NewGuid(), new Epoch(1)));

    /// <summary>Appends a run, whose numbers go on from the origin's last.</summary>
    /// <param name="messages">Whole messages (protocol P3.3).</param>
    public Lsn Run(MessageKind kind, uint origin, params byte[][] messages) => RunWith([], kind, origin, messages);

    /// <summary>Appends impulses with idempotency keys.</summary>
    /// <param name="messages">Whole messages, as <see cref="Message.OfKeyed"/> makes them.</param>
    public Lsn Keyed(uint origin, params byte[][] messages) => RunWith([], MessageKind.Impulse, origin, keyed: true, messages);

    /// <summary>Appends a run with extension blocks.</summary>
    public Lsn RunWith(byte[] blocks, MessageKind kind, uint origin, params byte[][] messages) =>
        RunWith(blocks, kind, origin, keyed: false, messages);

    private Lsn RunWith(byte[] blocks, MessageKind kind, uint origin, bool keyed, byte[][] messages)
    {
        RecordKind record = kind == MessageKind.Impulse ? RecordKind.ImpulseRun : RecordKind.Run;
        ulong first = _numbers.GetValueOrDefault((record, origin), 1ul);
        _numbers[(record, origin)] = first + (ulong)messages.Length;
        ulong hash = record == RecordKind.ImpulseRun ? 1ul : 0xABCDul;
        var header = new RunHeader(kind, keyed, 0, origin, first, (uint)messages.Length, (uint)blocks.Length, hash);
        byte[] body = [.. new byte[RunHeader.Bytes], .. blocks, .. messages.SelectMany(static message => message)];
        header.Write(body);
        return Append(body, record);
    }

    public Lsn Append(byte[] body, RecordKind kind)
    {
        if (!Writer.TryReserve(RecordHeader.Bytes + body.Length, out Reservation r))
        {
            Commit();
            Assert.True(Writer.TryReserve(RecordHeader.Bytes + body.Length, out r), "there is room");
        }
        new RecordHeader((uint)body.Length, kind).Write(r.Bytes);
        body.CopyTo(r.Bytes[RecordHeader.Bytes..]);
        Writer.Leave(r);
        return r.Lsn;
    }

    public Lsn Spanning(byte[] body, RecordKind kind)
    {
        Commit();
        Assert.True(Writer.TryAppendSpanning(kind, body.AsSpan(0, 32), body.AsSpan(32), out Lsn lsn, out _), "it is taken");
        RunHeader header = RunHeader.ReadBeginning(body, body.Length);
        _numbers[(kind, header.Peer)] = header.Last + 1;
        return lsn;
    }

    /// <summary>Makes everything appended so far durable.</summary>
    public void Commit()
    {
        while (Writer.Begin(out CommitGroup? group) is var answer and (CommitReadiness.Ready or CommitReadiness.AwaitingSpace))
        {
            if (answer == CommitReadiness.AwaitingSpace)
            {
                Writer.PrepareSpace();
                continue;
            }
            if (group!.NeedsRotation) group.Rotate();
            for (int i = 0; i < group.PageCount; i++) group.Write(i);
            group.Flush();
            group.CheckFence();
            Writer.Complete(group);
        }
    }

    /// <summary>States everything that is durable as durable, as a primary does that rests.</summary>
    public void Mark()
    {
        Commit();
        Assert.True(Writer.AppendMark(), "something is not stated");
        Commit();
    }

    /// <summary>Takes a checkpoint of all that was appended, and of a message of origin 1 that it appends.</summary>
    public CheckpointFileName Checkpoint(params CheckpointPeer[] peers)
    {
        Commit();
        Lsn page = Writer.Sealed;
        Run(MessageKind.Fork, 1, Message.Of(5, [1]));
        Commit();
        Lsn lsn = Writer.Durable;
        var files = new PosixFileSystem();
        using var reader = new LogReader(files, Directory, Identity, Log.Chain);
        var buffer = new PageBuffer(8 << 10);
        Assert.Equal(ReadStatus.Page, reader.Read(page, ref buffer));
        Run(MessageKind.Fork, 1, Message.Of(5, [1])); // states the page before
        Commit();
        var header = new CheckpointHeader(0, Identity.Uuid, lsn, lsn, Writer.Epoch, 7, 1, 1_000_000, buffer.Hash, "r0");
        using var writer = new CheckpointWriter(files, Directory, Identity, header, ICrashPoints.None);
        writer.Write(CheckpointSection.CoordinatorPart, new CoordinatorPart(peers, [], [], Lsn.Zero, []).ToBytes());
        writer.Write(CheckpointSection.Image, new byte[5_000]);
        writer.Finish();
        Assert.True(writer.Publish(Writer.Stated));
        return header.FileName;
    }

    /// <summary>Leaves the log as it is after kill -9.</summary>
    public void Dispose()
    {
        Writer.Dispose();
        _lock.Dispose();
    }
}
