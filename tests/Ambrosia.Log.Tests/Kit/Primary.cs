using Ambrosia.Log.Commit;
using Ambrosia.Log.Fencing;
using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Log.Instances;
using Ambrosia.Log.Pages;
using Ambrosia.Log.Recovery;
using Ambrosia.Log.Retention;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Records;

namespace Ambrosia.Log.Tests;

/// <summary>A process that is the primary of a directory's log, and does each step when a test says so.</summary>
internal sealed class Primary : IDisposable
{
    public static readonly Guid Uuid = Guid.Parse("0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0");

    private Primary(InstanceIdentity identity, Fence fence, PrimaryLock held, PrimaryLog log)
    {
        Identity = identity;
        Fence = fence;
        Lock = held;
        Log = log;
    }

    public InstanceIdentity Identity { get; }
    public Fence Fence { get; }
    public PrimaryLock Lock { get; }
    public PrimaryLog Log { get; }
    public LogWriter Writer => Log.Writer;

    public static LogOptions Small { get; } = new()
    {
        SegmentBytes = 256 << 10, PageBytes = 16 << 10, Pages = 4, ZeroWindowBytes = 32 << 10
    };

    /// <summary>Every replica brings a UUID of its own, as every creator does.</summary>
    public static InstanceIdentity Create(IFileSystem fs, string dir, ICrashPoints? crash = null, string replica = "r0")
    {
        byte[] uuid = Uuid.ToByteArray();
        uuid[^1] ^= (byte)(replica[^1] - '0');
        return InstanceDirectory.Create(fs, dir, "counter", 0, new Guid(uuid), 1_000_000, replica, crash ?? ICrashPoints.None);
    }

    public static Primary Start(
        IFileSystem fs, string dir, LogOptions? options = null, string replica = "r0", TimeProvider? time = null,
        ICrashPoints? crash = null)
    {
        crash ??= ICrashPoints.None;
        InstanceIdentity identity = Create(fs, dir, replica: replica);
        var claimed = Assert.IsType<ClaimResult.Claimed>(PrimaryClaim.TryClaim(fs, dir, identity, replica, crash));
        PrimaryLog log = TakeOver.Execute(
            new LogLocation(fs, dir, identity) { Crash = crash }, claimed.Fence, replica, options ?? Small, time ?? new SteppingTime());
        return new Primary(identity, claimed.Fence, claimed.PrimaryLock, log);
    }

    public static Primary Of(InstanceIdentity identity, ClaimResult.Claimed claimed, PrimaryLog log) =>
        new(identity, claimed.Fence, claimed.PrimaryLock, log);

    /// <summary>Appends the first record of all.</summary>
    public LoggedRecord Begin(uint appVersion = 7) =>
        AppendVersion(Lsn.Zero, new FirstStartRecord(Identity.Uuid, 1_000_000, appVersion, Identity.Name), appVersion);

    /// <summary>Appends a record that brings another app version into force. Nothing else may be under way.</summary>
    public LoggedRecord AppendVersion<T>(Lsn at, T record, uint appVersion) where T : IRecordBody<T>
    {
        byte[] body = RecordKinds.Encode(record);
        Assert.True(Writer.TryAppendVersion(at, T.Kind, body, appVersion), "the log stands still");
        return new LoggedRecord(at + PageHeader.Bytes, T.Kind, body);
    }

    /// <summary>Appends one record that fits a page. It is not durable yet.</summary>
    public LoggedRecord Append(byte[] body, RecordKind kind = RecordKind.Run)
    {
        LoggedRecord? record = TryAppend(body, kind);
        Assert.True(record is not null, "there is room");
        return record;
    }

    /// <summary>Appends one record; returns null when there is no room now.</summary>
    public LoggedRecord? TryAppend(byte[] body, RecordKind kind = RecordKind.Run)
    {
        if (!Writer.TryReserve(RecordHeader.Bytes + body.Length, out Reservation r)) return null;
        new RecordHeader((uint)body.Length, kind).Write(r.Bytes);
        body.CopyTo(r.Bytes[RecordHeader.Bytes..]);
        Assert.Equal(r.Lsn + r.Bytes.Length, r.End);
        Writer.Leave(r);
        return new LoggedRecord(r.Lsn, kind, body);
    }

    public LoggedRecord AppendSpanning(byte[] body, RecordKind kind = RecordKind.Run)
    {
        int head = Math.Min(body.Length, 32);
        Assert.True(Writer.TryAppendSpanning(kind, body.AsSpan(0, head), body.AsSpan(head), out Lsn lsn, out _), "it is taken");
        return new LoggedRecord(lsn, kind, body);
    }

    /// <summary>Makes everything appended so far durable, and returns the number of groups.</summary>
    public int Commit()
    {
        int groups = 0;
        while (Next() is { } group)
        {
            Steps(group);
            Writer.Complete(group);
            groups++;
        }
        return groups;
    }

    /// <summary>Makes so many groups durable, with one record of 9,000 bytes in each.</summary>
    public List<LoggedRecord> Fill(int groups)
    {
        var written = new List<LoggedRecord>();
        for (int i = 0; i < groups; i++)
        {
            byte[] body = new byte[9_000];
            Array.Fill(body, (byte)(i + 1));
            written.Add(Append(body));
            Commit();
        }
        return written;
    }

    /// <summary>
    /// Returns the next group, after preparing space for it as the pump would; null when there is nothing to commit, or no space for it.
    /// </summary>
    public CommitGroup? Next()
    {
        while (true)
        {
            CommitReadiness answer = Writer.Begin(out CommitGroup? group);
            if (answer != CommitReadiness.AwaitingSpace) return group;
            Writer.PrepareSpace();
            if (Writer.IsSpaceShort) return null;
        }
    }

    public static void Steps(CommitGroup group)
    {
        if (group.NeedsRotation) group.Rotate();
        for (int i = 0; i < group.PageCount; i++) group.Write(i);
        group.Flush();
        group.CheckFence();
    }

    /// <summary>Truncates as the coordinator does when a checkpoint got its name; two checkpoints stay.</summary>
    public TruncateResult Truncate(IFileSystem fs, string dir) =>
        Truncation(fs, dir).Truncate(default);

    /// <summary>Makes a truncation that keeps what <paramref name="policy"/> says, or two checkpoints.</summary>
    public Truncation Truncation(
        IFileSystem fs, string dir, RetentionPolicy? policy = null, Func<Lsn?>? neededFrom = null, ICrashPoints? crash = null,
        SegmentHolds? holds = null) =>
        new(new LogLocation(fs, dir, Identity) { Crash = crash ?? ICrashPoints.None }, Writer, Log.Chain,
            policy ?? RetentionPolicy.Default, neededFrom, holds);

    /// <summary>Ends as after kill -9: nothing is written, and locks are free.</summary>
    public void Dispose()
    {
        Writer.Dispose();
        Lock.Dispose();
    }
}
