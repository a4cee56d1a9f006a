using Ambrosia.Protocol;

namespace Ambrosia.Log;

/// <summary>
/// The primary's segment, the spare that follows it, and the change from one to the other (log-format L7.4).
/// The committer writes, flushes and rotates; the space pump prepares. <c>_spareChanging</c> guards the spare alone; only the committer
/// replaces the current segment.
/// </summary>
internal sealed class SegmentStore : IDisposable
{
    private readonly IFileSystem _fs;
    private readonly string _dir;
    private readonly Fence _fence;
    private readonly string _replica;
    private readonly LogOptions _options;
    private readonly ICrashPoints _crash;
    private readonly LogChain _chain;
    private readonly Lock _spareChanging = new();
    private SegmentFile _current;
    private SegmentFile? _spare;
    private ulong _sparesMade;

    public SegmentStore(
        IFileSystem fs, string dir, Fence fence, string replica, LogOptions options, ICrashPoints crash, LogChain chain, SegmentFile current)
    {
        _fs = fs;
        _dir = dir;
        _fence = fence;
        _replica = replica;
        _options = options;
        _crash = crash;
        _chain = chain;
        _current = current;
        AppVersion = options.AppVersion;
    }

    /// <summary>Version that the next segment states.</summary>
    public uint AppVersion { get; set; }

    public SegmentHeader Header => _current.Header;

    /// <summary>Lsn behind the last page written.</summary>
    public Lsn End => _current.End;

    public bool MustRotateFor(long bytes) => _current.IsFullFor(bytes);

    /// <summary>False when the write left the zeroed window.</summary>
    public bool Write(ReadOnlySpan<byte> page, Lsn lsn) => _current.Write(page, lsn);

    public void Flush() => _current.Flush();

    /// <summary>One step of preparing space; true: there is more to do. Blocks for one write and flush of at most 1 MiB.</summary>
    public bool Prepare()
    {
        SegmentFile current = Volatile.Read(ref _current);
        if (current.ZeroAhead(_options.ZeroWindowBytes)) return true;
        return current.Left <= Math.Max(_options.SegmentBytes / 2, _options.ZeroWindowBytes) && PrepareSpare();
    }

    /// <summary>Begins the next segment: <paramref name="seal"/> is Durable and the end of the old one.</summary>
    /// <param name="lastHash">Hash of the last page of the old segment.</param>
    /// <param name="timeMicros">Not before any page of the old segment.</param>
    public void Rotate(Lsn seal, ulong lastHash, long timeMicros)
    {
        SegmentHeader old = _current.Header;
        if (_current.End != seal) throw new InvalidOperationException($"rotation at {seal} while {_current.Path} ends at {_current.End}");
        SegmentHeader header = old with
        {
            Number = old.Number + 1, FirstLsn = seal, PredecessorNumber = old.Number, PredecessorEpoch = old.Epoch, PredecessorHash = lastHash,
            AppVersion = AppVersion, CreatedMicros = timeMicros,
        };
        var name = new SegmentFileName(header.Number, header.Epoch);
        string path = Path.Combine(_dir, name.ToString());
        _crash.Hit("segment.beforeCreate");
        SegmentFile next = TakeSpare() ?? SegmentFile.Create(_fs, Path.Combine(_dir, new TemporaryFileName(name.ToString(), _replica, header.Epoch).ToString()), _options);
        next.WriteHeader(header);
        next.Flush();
        _crash.Hit("segment.afterCreate");
        Publish(next, path);
        _fs.FlushDirectory(_dir);
        _crash.Hit("segment.afterDirFsync");
        _fence.Check();
        _chain.Append(new LogSegment(path, header));
        SegmentFile full = _current;
        Volatile.Write(ref _current, next);
        full.Dispose();
    }

    public void Dispose()
    {
        _current.Dispose();
        TakeSpare()?.Dispose();
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

    private SegmentFile? TakeSpare()
    {
        lock (_spareChanging)
        {
            SegmentFile? spare = _spare;
            _spare = null;
            return spare;
        }
    }

    private bool PrepareSpare()
    {
        lock (_spareChanging)
        {
            if (_spare is not null) return _spare.ZeroAhead(_options.ZeroWindowBytes);
            string name = new SpareFileName(_fence.Epoch, ++_sparesMade).ToString();
            _spare = SegmentFile.Create(_fs, Path.Combine(_dir, name), _options);
            return true;
        }
    }
}
