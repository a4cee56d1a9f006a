using Ambrosia.Protocol;

namespace Ambrosia.Log;

/// <summary>
/// The primary's segment, the spares that follow it, and the change from one to the other (log-format L7.4).
/// The committer writes, flushes and rotates; the space pump prepares; whoever trims releases. Only the committer replaces the current
/// segment. Invariant: a page is written only where space was set aside and zeroed before, so a full disk, and a file that grows, are met
/// by the space pump and by nobody else.
/// </summary>
internal sealed class SegmentStore : IDisposable
{
    /// <summary>The zeroed window grows to this many times its usual size.</summary>
    private const int WindowGrowthMax = 8;

    private readonly IFileSystem _fs;
    private readonly string _dir;
    private readonly Fence _fence;
    private readonly LogOptions _options;
    private readonly LogMetrics _metrics;
    private readonly ICrashPoints _crash;
    private readonly LogChain _chain;
    private readonly SpareSegments _spares;
    private SegmentFile _current;
    private long _wanted; // bytes of the group that waits for space or zeros; 0: none does
    private long _window; // bytes to keep zeroed; the space pump's
    private volatile bool _isShort, _isOvertaken;

    public SegmentStore(
        IFileSystem fs, string dir, Fence fence, LogOptions options, LogMetrics metrics, ICrashPoints crash, LogChain chain,
        SegmentFile current)
    {
        _fs = fs;
        _dir = dir;
        _fence = fence;
        _options = options;
        _metrics = metrics;
        _crash = crash;
        _chain = chain;
        _current = current;
        _window = options.ZeroWindowBytes;
        _spares = new SpareSegments(fs, dir, fence, options, crash);
        AppVersion = options.AppVersion;
    }

    /// <summary>Version that the next segment states.</summary>
    public uint AppVersion { get; set; }

    public SegmentHeader Header => _current.Header;

    /// <summary>Lsn behind the last page written.</summary>
    public Lsn End => _current.End;

    /// <summary>The disk is full: the last attempt to set space aside failed for that.</summary>
    public bool IsShort => _isShort;

    /// <summary>True when a group can be written now, in this segment or by a rotation; false: it waits for the space pump.</summary>
    public bool HasRoomFor(long bytes, bool isMark)
    {
        bool isFull = _current.IsFullFor(bytes, isMark), isHere = !isFull && _current.HasRoomFor(bytes, isMark),
            isNext = !isHere && (isFull || _isShort);
        bool isReady = isHere ? _current.IsPreparedFor(bytes) : isNext && _spares.IsReadyFor(bytes, isMark);
        bool hasWaited = Volatile.Read(ref _wanted) != 0;
        Volatile.Write(ref _wanted, isReady ? 0 : bytes);
        if (!isReady && !hasWaited) CountWait(isForZeros: isHere || (isNext && _spares.HasRoomFor(bytes, isMark)));
        return isReady;
    }

    private void CountWait(bool isForZeros)
    {
        if (isForZeros) _isOvertaken = true;
        _metrics.CountWait(isForZeros);
    }

    public bool MustRotateFor(long bytes, bool isMark) => _current.IsFullFor(bytes, isMark) || !_current.HasRoomFor(bytes, isMark);

    public void Write(ReadOnlySpan<ReadOnlyMemory<byte>> pages, Lsn lsn) => _current.Write(pages, lsn);

    public void Flush() => _current.Flush();

    /// <summary>
    /// One step of preparing space; true: there is more to do. Blocks for one write and flush of at most 4 MiB. A full disk is no failure:
    /// <see cref="IsShort"/> says so, and the next step tries again.
    /// </summary>
    public bool Prepare()
    {
        try
        {
            bool more = PrepareStep();
            _isShort = false;
            return more;
        }
        catch (IOException e) when (NoSpace.Is(e))
        {
            if (!_isShort) _metrics.CountShortage();
            _isShort = true;
        }
        return ZeroWhatIsThere();
    }

    /// <summary>On a full disk what is set aside already can still be used.</summary>
    private bool ZeroWhatIsThere()
    {
        try
        {
            long wanted = Volatile.Read(ref _wanted);
            return Volatile.Read(ref _current).ZeroAhead(_window, wanted) || _spares.ZeroAhead(wanted);
        }
        catch (IOException e) when (NoSpace.Is(e)) // not everywhere does setting it aside mean that it is there
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
        bool goesToNext = current.IsFullFor(wanted, isMark: false);
        if (goesToNext && _spares.Prepare(wanted, 0)) return true;
        if (current.AllocateAhead(goesToNext ? 0 : wanted) || current.ZeroAhead(_window, wanted)) return true;
        return current.Left <= Math.Max(_options.SegmentBytes / 2, _window) && _spares.Prepare(wanted, _window);
    }

    /// <summary>Begins the next segment: <paramref name="seal"/> is Durable and the end of the old one.</summary>
    /// <param name="lastHash">Hash of the last page of the old segment.</param>
    /// <param name="timeMicros">Not before any page of the old segment.</param>
    /// <param name="bytes">Of the group that follows; <see cref="HasRoomFor"/> was true for it.</param>
    public void Rotate(Lsn seal, ulong lastHash, long timeMicros, long bytes, bool isMark)
    {
        SegmentHeader old = _current.Header;
        if (_current.End != seal) throw new InvalidOperationException($"rotation at {seal} while {_current.Path} ends at {_current.End}");
        _crash.Hit("segment.beforeCreate");
        SegmentFile next = _spares.Take(bytes, isMark)
            ?? throw new InvalidOperationException($"rotation at {seal} without a spare for {bytes} bytes");
        next.WriteHeader(old with
        {
            Number = old.Number + 1, FirstLsn = seal, PredecessorNumber = old.Number, PredecessorEpoch = old.Epoch,
            PredecessorHash = lastHash,
            AppVersion = AppVersion, CreatedMicros = timeMicros,
        });
        next.Flush();
        _crash.Hit("segment.afterCreate");
        string path = Path.Combine(_dir, new SegmentFileName(next.Header.Number, next.Header.Epoch).ToString());
        Publish(next, path);
        _fs.FlushDirectory(_dir);
        _crash.Hit("segment.afterDirFsync");
        _fence.Check();
        _chain.Append(new LogSegment(path, next.Header));
        SegmentFile full = _current;
        Volatile.Write(ref _current, next);
        full.Dispose();
    }

    /// <summary>
    /// Takes the oldest segment out of the log: nothing below its end is needed any more (I14 is the caller's). One of this epoch becomes a
    /// spare, any other goes. Never waits; any thread, one at a time.
    /// </summary>
    /// <exception cref="FenceLostException">A later primary has removed it.</exception>
    public SegmentRelease Release(LogSegment oldest)
    {
        bool isOwn = oldest.Header.Epoch == _fence.Epoch;
        IFile file;
        try
        {
            file = _fs.Open(oldest.Path, isOwn ? FileUse.ReadWrite : FileUse.Read);
        }
        catch (FileNotFoundException)
        {
            return Gone(oldest);
        }
        if (!file.TryLock(FileLockKind.Exclusive))
        {
            file.Dispose();
            return SegmentRelease.Held;
        }
        _chain.RemoveOldest(oldest);
        try
        {
            if (isOwn && _spares.TryRecycle(oldest.Path, file))
            {
                _metrics.CountRecycled();
                return SegmentRelease.Recycled;
            }
        }
        catch (FileNotFoundException)
        {
            _fence.Check();
            throw;
        }
        file.Dispose();
        _fs.Delete(oldest.Path);
        _crash.Hit("truncate.afterUnlink");
        _fs.FlushDirectory(_dir);
        return SegmentRelease.Removed;
    }

    /// <summary>
    /// Removes segments of earlier epochs that no chain leads to: what a truncation that died, or a former primary that lived on, has left.
    /// The caller knows that nothing below the beginning of the chain is needed any more. Returns how many.
    /// </summary>
    public int RemoveOrphans()
    {
        var needed = _chain.Segments.Select(static s => s.Name).ToHashSet();
        int removed = 0;
        foreach (string name in _fs.List(_dir))
        {
            if (SegmentFileName.TryParse(name) is not { } segment || segment.Epoch >= _fence.Epoch || needed.Contains(segment)) continue;
            _fs.Delete(Path.Combine(_dir, name));
            removed++;
        }
        if (removed > 0) _fs.FlushDirectory(_dir);
        return removed;
    }

    public void Dispose()
    {
        _current.Dispose();
        _spares.Dispose();
    }

    private SegmentRelease Gone(LogSegment oldest)
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
        catch (FileNotFoundException) // a new primary has removed what we made: say that, if it is so
        {
            _fence.Check();
            throw;
        }
    }
}
