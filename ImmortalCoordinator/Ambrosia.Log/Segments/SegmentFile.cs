using Ambrosia.Protocol;

namespace Ambrosia.Log;

/// <summary>
/// One segment that this process made and writes. The committer writes pages; the space pump zeroes ahead of it.
/// Invariant: bytes from <c>_zeroedTo</c> on are written by whoever holds <c>_growing</c>, bytes below only by the committer, so zeros
/// never fall on a page.
/// </summary>
internal sealed class SegmentFile : IDisposable
{
    private const int ZeroStepBytes = 1 << 20;

    private static readonly byte[] s_zeros = new byte[ZeroStepBytes];

    private readonly IFileSystem _fs;
    private readonly IFile _file;
    private readonly long _capacity;
    private readonly long _allocateStep;
    private readonly Lock _growing = new();
    private long _allocatedTo; // file offset; changed by whoever holds _growing
    private long _zeroedTo;   // file offset; ≥ every page's end; only grows
    private long _writtenTo;  // file offset behind the last page
    private bool _closed;
    private SegmentHeader? _header;

    private SegmentFile(IFileSystem fs, string path, IFile file, long capacity, long allocateStep)
    {
        _fs = fs;
        Path = path;
        _file = file;
        _capacity = capacity;
        _allocateStep = allocateStep;
        AllocateFor(SegmentHeader.Bytes);
        _zeroedTo = _writtenTo = SegmentHeader.Bytes;
    }

    public string Path { get; private set; }

    /// <summary>Set once, by <see cref="WriteHeader"/>.</summary>
    public SegmentHeader Header => _header ?? throw new InvalidOperationException($"{Path} has no header yet");

    /// <summary>Lsn behind the last page.</summary>
    public Lsn End => Header.FirstLsn + (Volatile.Read(ref _writtenTo) - SegmentHeader.Bytes);

    /// <summary>Makes a file under a temporary or spare name and sets the beginning of its space aside. An unfinished one of that name is removed.</summary>
    public static SegmentFile Create(IFileSystem fs, string path, LogOptions options)
    {
        fs.Delete(path);
        return new SegmentFile(fs, path, fs.Create(path), options.SegmentBytes, options.AllocateStepBytes);
    }

    public void WriteHeader(SegmentHeader header)
    {
        Span<byte> bytes = stackalloc byte[SegmentHeader.Bytes];
        header.Write(bytes);
        _file.Write(bytes, 0);
        _header = header;
    }

    /// <summary>Renames the file to its segment's name; false when that is taken.</summary>
    public bool TryPublish(string path)
    {
        if (!_fs.TryRenameNew(Path, path)) return false;
        Path = path;
        return true;
    }

    /// <summary>True when <paramref name="bytes"/> of pages go beyond the segment's size and it holds any already.</summary>
    public bool IsFullFor(long bytes) => _writtenTo > SegmentHeader.Bytes && _writtenTo + bytes > _capacity;

    /// <summary>Writes a page, padding included, behind the one before. False when it left the zeroed window: the flush will pay for it.</summary>
    public bool Write(ReadOnlySpan<byte> page, Lsn lsn)
    {
        long offset = Header.OffsetOf(lsn), end = offset + page.Length;
        if (offset != _writtenTo) throw new InvalidOperationException($"page {lsn} would stand at {offset} of {Path}, which ends at {_writtenTo}");
        bool isZeroed = end <= Volatile.Read(ref _zeroedTo);
        if (isZeroed) _file.Write(page, offset);
        else WriteBeyond(page, offset, end);
        Volatile.Write(ref _writtenTo, end);
        return isZeroed;
    }

    public void Flush() => _file.Flush();

    /// <summary>Zeroes one step of the window and flushes it. True: the window is not full yet.</summary>
    public bool ZeroAhead(long windowBytes)
    {
        lock (_growing)
        {
            if (_closed) return false;
            long target = Math.Min(_capacity, Volatile.Read(ref _writtenTo) + windowBytes);
            long step = Math.Min(ZeroStepBytes, target - _zeroedTo);
            if (step <= 0) return false;
            AllocateFor(_zeroedTo + step);
            _file.Write(s_zeros.AsSpan(0, (int)step), _zeroedTo);
            _file.Flush();
            Volatile.Write(ref _zeroedTo, _zeroedTo + step);
            return _zeroedTo < target;
        }
    }

    /// <summary>Bytes left for pages.</summary>
    public long Left => _capacity - Volatile.Read(ref _writtenTo);

    public void Dispose()
    {
        lock (_growing)
        {
            _closed = true;
            _file.Dispose();
        }
    }

    /// <summary>Sets aside at least the space up to <paramref name="end"/>. Pages that outran the zeros took theirs as they were written.</summary>
    private void AllocateFor(long end)
    {
        if (end <= _allocatedTo) return;
        _allocatedTo = Math.Min(_capacity, end + _allocateStep);
        _file.Allocate(_allocatedTo);
    }

    private void WriteBeyond(ReadOnlySpan<byte> page, long offset, long end)
    {
        lock (_growing)
        {
            _file.Write(page, offset);
            if (end > _zeroedTo) Volatile.Write(ref _zeroedTo, end);
        }
    }
}
