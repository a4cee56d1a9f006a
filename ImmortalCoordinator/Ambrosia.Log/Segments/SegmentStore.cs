using Ambrosia.Log.Fencing;
using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Log.Instances;
using Ambrosia.Protocol;

namespace Ambrosia.Log.Segments;

/// <summary>
/// Owns the segment that the primary writes and the spares that follow it, and changes from one to the other (log-format L7.4). The
/// committer writes, flushes and rotates; the space pump prepares; whoever trims releases. Only the committer replaces the current segment.
/// Invariant: a page is written only where space was set aside and zeroed before, so that only the space pump ever meets a full disk or
/// makes a file grow.
/// </summary>
internal sealed class SegmentStore : IDisposable
{
    /// <summary>The zeroed window grows to at most this many times its usual size.</summary>
    private const int WindowGrowthMax = 8;

    private readonly LogLocation _location;
    private readonly Fence _fence;
    private readonly LogOptions _options;
    private readonly LogChain _chain;
    private readonly SpareSegments _spares;
    private SegmentFile _current;
    private long _wanted; // bytes of the group that waits for space or zeros; 0 when none waits
    private long _window; // bytes to keep zeroed; only the space pump uses it
    private volatile bool _isShort, _isOvertaken;
    private volatile AppVersionInForce _version;

    public SegmentStore(
        LogLocation location, Fence fence, LogOptions options, LogChain chain, SegmentFile current, AppVersionInForce version)
    {
        _location = location;
        _fence = fence;
        _options = options;
        _chain = chain;
        _current = current;
        _window = options.ZeroWindowBytes;
        _spares = new SpareSegments(location, fence.Epoch, options);
        _version = version;
    }

    /// <summary>Counts the waits for space and what became of segments.</summary>
    public SpaceCounters Counters { get; } = new();

    public SegmentHeader Header => _current.Header;

    /// <summary>The position behind the last page written.</summary>
    public Lsn End => _current.End;

    /// <summary>True when the disk is full: the last attempt to set space aside failed for that reason.</summary>
    public bool IsShort => _isShort;

    /// <summary>
    /// Says where a group is to be written now: in this segment, or in the next one after a rotation. After <see cref="GroupPlace.None"/>
    /// the group waits for the space pump. The space pump goes on meanwhile, so the answer is taken once for each group and kept.
    /// </summary>
    public GroupPlace PlaceFor(long bytes, bool isMark)
    {
        bool isFull = MustEnd(_current) || _current.IsFullFor(bytes, isMark);
        bool isHere = !isFull && _current.HasRoomFor(bytes, isMark),
            isNext = !isHere && (isFull || _isShort);
        bool isReady = isHere ? _current.IsPreparedFor(bytes) : isNext && _spares.IsReadyFor(bytes, isMark);
        bool hasWaited = Volatile.Read(ref _wanted) != 0;
        Volatile.Write(ref _wanted, isReady ? 0 : bytes);
        if (!isReady && !hasWaited) CountWait(isForZeros: isHere || (isNext && _spares.HasRoomFor(bytes, isMark)));
        return !isReady ? GroupPlace.None : isHere ? GroupPlace.Here : GroupPlace.Next;
    }

    private void CountWait(bool isForZeros)
    {
        if (isForZeros) _isOvertaken = true;
        Counters.CountWait(isForZeros);
    }

    /// <summary>Returns the app version in force before the record at a position of the segment that is written, or behind it.</summary>
    public uint VersionAt(Lsn lsn) => _version.At(lsn);

    /// <summary>
    /// A record that begins the page at <paramref name="at"/>, which is appended next, brings another version into force. It begins a
    /// segment, too: every header states the version up to its first page.
    /// </summary>
    public void ChangeVersion(Lsn at, uint appVersion) => _version = new AppVersionInForce(VersionAt(at), at, appVersion);

    /// <summary>Returns true for a segment that must not take the page that comes next.</summary>
    private bool MustEnd(SegmentFile current) => current.End == _version.Since && current.End > current.Header.FirstLsn;

    public void Write(ReadOnlySpan<ReadOnlyMemory<byte>> pages, Lsn lsn) => _current.Write(pages, lsn);

    public void Flush() => _current.Flush();

    /// <inheritdoc cref="Fence.Check"/>
    public void CheckFence() => _fence.Check();

    /// <summary>
    /// Makes one step of preparing space; returns true when there is more to do. It blocks for one write and flush of at most 4 MiB. A full
    /// disk is no failure: <see cref="IsShort"/> says so, and the next step tries again.
    /// </summary>
    public bool Prepare()
    {
        try
        {
            bool more = PrepareStep();
            _isShort = false;
            return more;
        }
        catch (IOException e) when (IFileSystem.IsNotNow(e))
        {
            if (!_isShort) Counters.CountShortage();
            _isShort = true;
        }
        return ZeroAllocatedSpace();
    }

    /// <summary>Zeroes on a full disk what is set aside already, since that can still be used.</summary>
    private bool ZeroAllocatedSpace()
    {
        try
        {
            long wanted = Volatile.Read(ref _wanted);
            return Volatile.Read(ref _current).ZeroAhead(_window, wanted) || _spares.ZeroAhead(wanted);
        }
        catch (IOException e) when (IFileSystem.IsNotNow(e)) // on some file systems space that was set aside may still be lacking
        {
            return false;
        }
    }

    private bool PrepareStep()
    {
        SegmentFile current = Volatile.Read(ref _current);
        if (_isOvertaken)
        {
            _isOvertaken = false;
            _window = Math.Min(2 * _window, WindowGrowthMax * _options.ZeroWindowBytes);
        }
        long wanted = Volatile.Read(ref _wanted);
        bool goesToNext = MustEnd(current) || current.IsFullFor(wanted, isMark: false);
        if (goesToNext && _spares.Prepare(wanted, 0)) return true;
        long zerosHere = goesToNext ? Math.Min(wanted, SegmentFile.MarkBytes) : wanted; // a mark still has its place here
        if (current.AllocateAhead(goesToNext ? 0 : wanted) || current.ZeroAhead(_window, zerosHere)) return true;
        return current.Left <= Math.Max(_options.SegmentBytes / 2, _window) && _spares.Prepare(wanted, _window);
    }

    /// <summary>Begins the next segment. <paramref name="seal"/> is Durable and the end of the old segment.</summary>
    /// <param name="lastHash">Hash of the last page of the old segment.</param>
    /// <param name="timeMicros">µs since 1970, not before any page of the old segment.</param>
    /// <param name="bytes">Bytes of the group that follows; <see cref="PlaceFor"/> was <see cref="GroupPlace.Next"/>.</param>
    public void Rotate(Lsn seal, ulong lastHash, long timeMicros, long bytes, bool isMark)
    {
        SegmentHeader old = _current.Header;
        if (_current.End != seal) throw new InvalidOperationException($"rotation at {seal} while {_current.Path} ends at {_current.End}");
        if (MustEnd(_current)) _location.Crash.Hit("upgrade.beforeRotate"); // the record of an upgrade is appended, and begins the next one
        _location.Crash.Hit("segment.beforeCreate");
        SegmentFile next = _spares.Take(bytes, isMark)
            ?? throw new InvalidOperationException($"rotation at {seal} without a spare for {bytes} bytes");
        next.WriteHeader(old with
        {
            Number = old.Number + 1, FirstLsn = seal, PredecessorNumber = old.Number, PredecessorEpoch = old.Epoch,
            PredecessorHash = lastHash,
            AppVersion = VersionAt(seal), CreatedMicros = timeMicros,
        });
        next.Flush();
        _location.Crash.Hit("segment.afterCreate");
        string path = _location.PathOf(new SegmentFileName(next.Header.Number, next.Header.Epoch).ToString());
        Publish(next, path);
        _location.Flush();
        _location.Crash.Hit("segment.afterDirFsync");
        _fence.Check();
        SegmentFile full = _current;
        _spares.Remember(full); // before the chain has a successor, which lets it go
        _chain.Append(new LogSegment(path, next.Header));
        Volatile.Write(ref _current, next);
        full.Dispose();
    }

    /// <summary>
    /// Takes the oldest segment out of the log, when nothing below its end is needed any more (the caller ensures I14). A segment of this
    /// epoch becomes a spare; any other is removed. It never waits. Any thread, one at a time.
    /// </summary>
    /// <param name="evenIfHeld">The name is removed in spite of a reader's lock. The file is not written again then, so that what the
    /// reader has open stays what it was.</param>
    /// <exception cref="FenceLostException">A later primary has removed it.</exception>
    public SegmentRelease Release(LogSegment oldest, bool evenIfHeld = false)
    {
        bool isOwn = oldest.Header.Epoch == _fence.Epoch;
        IFile file;
        try
        {
            file = _location.Files.Open(oldest.Path, FileUse.ReadWrite); // of another epoch too: the lock needs an opening that may write
        }
        catch (FileNotFoundException)
        {
            return ForgetRemoved(oldest);
        }
        bool isFree = file.TryLock(FileLockKind.Exclusive);
        if (!isFree && !evenIfHeld)
        {
            file.Dispose();
            return SegmentRelease.Held;
        }
        _chain.RemoveOldest(oldest);
        try
        {
            if (isOwn && isFree && _spares.TryRecycle(oldest, file))
            {
                Counters.CountRecycled();
                return SegmentRelease.Recycled;
            }
        }
        catch (FileNotFoundException)
        {
            _fence.Check();
            throw;
        }
        file.Dispose();
        _spares.Forget(oldest.Name);
        _location.Files.Delete(oldest.Path);
        _location.Crash.Hit("truncate.afterUnlink");
        _location.Flush();
        return isFree ? SegmentRelease.Removed : SegmentRelease.Taken;
    }

    /// <summary>
    /// Removes segments of earlier epochs that no chain leads to: a truncation that died, or a former primary that lived on, has left them.
    /// The caller knows that nothing below the beginning of the chain is needed any more. Returns how many were removed.
    /// </summary>
    public int RemoveOrphans()
    {
        var needed = _chain.Segments.Select(static s => s.Name).ToHashSet();
        int removed = 0;
        foreach (string name in _location.List())
        {
            if (SegmentFileName.TryParse(name) is not { } segment || segment.Epoch >= _fence.Epoch || needed.Contains(segment)) continue;
            _location.Files.Delete(_location.PathOf(name));
            removed++;
        }
        if (removed > 0) _location.Flush();
        return removed;
    }

    public void Dispose()
    {
        _current.Dispose();
        _spares.Dispose();
    }

    /// <summary>Takes a segment out of the chain whose file an earlier truncation has removed.</summary>
    private SegmentRelease ForgetRemoved(LogSegment oldest)
    {
        _fence.Check();
        _chain.RemoveOldest(oldest);
        return SegmentRelease.Removed;
    }

    private void Publish(SegmentFile next, string path)
    {
        try
        {
            if (!next.TryPublish(path)) throw new LogDamage(path, 0, next.Header.FirstLsn, "no segment of this number and epoch", "one");
        }
        catch (FileNotFoundException) // perhaps a new primary has removed what we made: then the fence says so
        {
            _fence.Check();
            throw;
        }
    }
}

/// <summary>Says where the pages of a commit group are to be written.</summary>
internal enum GroupPlace
{
    /// <summary>It waits: space or zeros are lacking.</summary>
    None,

    /// <summary>It goes into the segment that is written.</summary>
    Here,

    /// <summary>It goes into the next segment, which a spare becomes.</summary>
    Next,
}

/// <summary>Says which app version is in force in the segment that is written. It changes at the segment's first record only.</summary>
/// <param name="Before">In force up to <paramref name="Since"/>; 0 before the log's first record.</param>
/// <param name="Since">The record that brings the version into force stands on this page.</param>
/// <param name="Version">In force behind it.</param>
internal sealed record AppVersionInForce(uint Before, Lsn Since, uint Version)
{
    public uint At(Lsn lsn) => lsn > Since ? Version : Before;
}

/// <summary>
/// Counts how often a log waited for space and what became of its segments, since its take-over. The committer, the space pump and whoever
/// trims count; any thread reads.
/// </summary>
internal sealed class SpaceCounters
{
    private long _zeroWaits, _spaceWaits, _shortages, _recycled;

    public long ZeroWaits => Interlocked.Read(ref _zeroWaits);

    public long SpaceWaits => Interlocked.Read(ref _spaceWaits);

    public long Shortages => Interlocked.Read(ref _shortages);

    public long Recycled => Interlocked.Read(ref _recycled);

    public void CountWait(bool isForZeros)
    {
        if (isForZeros) Interlocked.Increment(ref _zeroWaits);
        else Interlocked.Increment(ref _spaceWaits);
    }

    public void CountShortage() => Interlocked.Increment(ref _shortages);

    public void CountRecycled() => Interlocked.Increment(ref _recycled);
}

/// <summary>Says what became of a segment that the log does not need any more.</summary>
public enum SegmentRelease
{
    /// <summary>The segment's file is a spare now and becomes one of the next segments.</summary>
    Recycled,

    /// <summary>The segment's name is removed.</summary>
    Removed,

    /// <summary>A reader holds the segment: it stays part of the log, and the caller asks again later.</summary>
    Held,

    /// <summary>The segment's name is removed although a reader holds it; the file goes when the reader closes it.</summary>
    Taken,
}
