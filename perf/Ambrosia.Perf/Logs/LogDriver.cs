// A log of its own without coordinator, app or links: what the storage engine does alone. Two threads beside the caller, as in production:
// one prepares space, and (where the caller asks) one commits. Old segments are let go as they fill, so that files are written again.
// Durable pages are let go as if delivery had sent them at once; without that each page would be filled where the cache
// has not been for longest.
using System.Diagnostics;
using Ambrosia.Log.Commit;
using Ambrosia.Log.Fencing;
using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Log.Instances;
using Ambrosia.Log.Pages;
using Ambrosia.Log.Reading;
using Ambrosia.Log.Recovery;
using Ambrosia.Log.Segments;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Records;

namespace Ambrosia.Perf;

/// <summary>One log, written at full speed. The caller's thread appends.</summary>
internal sealed class LogDriver : IDisposable
{
    private const int KeptSegments = 2;

    private readonly PosixFileSystem _files = new();
    private readonly PrimaryLock _lock;
    private readonly Thread _space;
    private readonly AutoResetEvent _committed = new(false), _appended = new(false);
    private Thread? _committer;
    private Lsn _delivered; // of whoever commits
    private Exception? _failure;
    private volatile bool _stopped;

    public LogDriver(string directory, LogOptions options)
    {
        Directory = directory;
        Identity = InstanceDirectory.Create(_files, directory, "perf", 0, Guid.NewGuid(), 1, "r0", ICrashPoints.None);
        var claimed = (ClaimResult.Claimed)PrimaryClaim.TryClaim(_files, directory, Identity, "r0", ICrashPoints.None);
        _lock = claimed.PrimaryLock;
        Log = TakeOver.Execute(new LogLocation(_files, directory, Identity), claimed.Fence, "r0", options, TimeProvider.System);
        _space = new Thread(() => Guard(PrepareSpace)) { IsBackground = true, Name = "space" };
        _space.Start();
    }

    public string Directory { get; }

    public InstanceIdentity Identity { get; }

    public PrimaryLog Log { get; }

    public LogWriter Writer => Log.Writer;

    /// <summary>Appends records one by one, each made durable before the next, on this thread.</summary>
    public TimeSpan AppendMany(ReadOnlySpan<byte> body, int count)
    {
        long begun = Stopwatch.GetTimestamp();
        for (int i = 0; i < count; i++)
        {
            Append(body);
            while (!TryCommit()) Thread.Yield();
        }
        return Stopwatch.GetElapsedTime(begun);
    }

    /// <summary>
    /// Appends until <paramref name="bytes"/> of file have been written, with a committer of its own; waits for the last.
    /// </summary>
    public TimeSpan Stream(ReadOnlySpan<byte> body, long bytes)
    {
        _committer ??= StartCommitter();
        long begun = Stopwatch.GetTimestamp();
        Lsn until = Writer.Tail + bytes;
        while (Writer.Tail < until) Append(body);
        while (Writer.Durable < until)
        {
            _appended.Set();
            _committed.WaitOne(1);
            Check();
        }
        return Stopwatch.GetElapsedTime(begun);
    }

    /// <summary>Makes everything durable that was appended, on this thread.</summary>
    public void CommitAll()
    {
        while (Writer.Durable < Writer.Tail)
            if (!TryCommit()) Thread.Yield();
    }

    /// <summary>Lets go of all but the newest segments.</summary>
    public void Trim()
    {
        while (Log.Chain.Segments is [var oldest, ..] segments && segments.Length > KeptSegments) Writer.Release(oldest);
    }

    /// <summary>Bytes of disk that the directory's files take.</summary>
    public long DiskBytes() => new DirectoryInfo(Directory).EnumerateFiles().Sum(static file => file.Length);

    /// <summary>Reads the kept log from its first page to its end with every check; bytes and time.</summary>
    public (long Bytes, TimeSpan Time) ReadAll()
    {
        LogChain chain = LogChain.Load(_files, Directory, Identity);
        using var reader = new LogReader(_files, Directory, Identity, chain);
        var buffer = new PageBuffer();
        Lsn first = chain.Segments[0].FirstLsn, at = first;
        long begun = Stopwatch.GetTimestamp();
        while (at < Writer.Durable && reader.Read(at, ref buffer) == ReadStatus.Page) at = buffer.Next;
        return (at - first, Stopwatch.GetElapsedTime(begun));
    }

    /// <summary>The same with nothing of the log in the page cache, as after a restart of the machine.</summary>
    public (long Bytes, TimeSpan Time) ReadCold()
    {
        foreach (LogSegment segment in Log.Chain.Segments)
        {
            using IFile file = _files.Open(segment.Path, FileUse.Read);
            file.Flush(); // what is dirty stays in the cache
            file.DropCache();
        }
        return ReadAll();
    }

    public void Dispose()
    {
        _stopped = true;
        _appended.Set();
        _space.Join();
        _committer?.Join();
        Writer.Dispose();
        _lock.Dispose();
    }

    private void Append(ReadOnlySpan<byte> body)
    {
        Reservation room;
        while (!Writer.TryReserve(RecordHeader.Bytes + body.Length, out room))
        {
            if (_committer is null) TryCommit();
            else _committed.WaitOne(1);
            Check();
        }
        new RecordHeader((uint)body.Length, RecordKind.Run).Write(room.Bytes);
        body.CopyTo(room.Bytes[RecordHeader.Bytes..]);
        if (Writer.Leave(room)) _appended.Set();
    }

    /// <summary>False: there was nothing that could be committed.</summary>
    private bool TryCommit()
    {
        Check();
        if (Writer.Begin(out CommitGroup? group) != CommitReadiness.Ready) return false;
        if (group!.NeedsRotation) group.Rotate();
        group.Write();
        group.Flush();
        group.CheckFence();
        Writer.Complete(group);
        DeliverDurable();
        return true;
    }

    private void DeliverDurable()
    {
        while (_delivered < Writer.Durable)
        {
            bool isThere = Writer.TryPin(_delivered, out PinnedPage page);
            _delivered = isThere ? page.Next : Writer.Durable;
            if (isThere) page.Unpin();
        }
    }

    private Thread StartCommitter()
    {
        var thread = new Thread(() => Guard(Commit)) { IsBackground = true, Name = "commit" };
        thread.Start();
        return thread;
    }

    private void Commit()
    {
        while (!_stopped)
        {
            if (TryCommit()) _committed.Set();
            else _appended.WaitOne(1);
        }
    }

    private void PrepareSpace()
    {
        while (!_stopped)
        {
            Trim();
            bool isAwaited = Writer.IsAwaitingSpace, more = Writer.PrepareSpace();
            if (isAwaited) _appended.Set();
            if (!more) Thread.Sleep(isAwaited ? 0 : 1);
        }
    }

    private void Guard(Action loop)
    {
        try
        {
            loop();
        }
        catch (Exception e)
        {
            _failure = e;
        }
    }

    private void Check()
    {
        if (_failure is { } failure) throw new FailedRoundException(failure.Message);
        if (Writer.IsSpaceShort) throw new FailedRoundException($"the disk of {Directory} is full");
    }
}
