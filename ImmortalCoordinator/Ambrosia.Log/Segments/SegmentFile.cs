using Ambrosia.Protocol;

namespace Ambrosia.Log;

/// <summary>
/// One segment that this process made and writes. The committer writes pages; the space pump sets space aside and zeroes ahead of it.
/// Invariant: writtenTo ≤ preparedTo ≤ allocatedTo, so no page of the committer's ever meets a full disk, makes the file grow, or stands
/// where zeros are still to come; behind the last page of each write stand 4,096 zero bytes at least, or the end of what was ever written.
/// </summary>
internal sealed class SegmentFile : IDisposable
{
    /// <summary>Bytes at the end of the allocated space, and of the segment, into which only a durable mark is written.</summary>
    private const int MarkBytes = LogFormat.BlockBytes;

    /// <summary>Zeros that a take-over writes itself, so that the first pages behind it wait for nobody.</summary>
    private const int FirstZeroBytesMax = 256 << 10;

    /// <summary>What a step adds at least where the committer was faster than the zeros.</summary>
    private const int HurriedStepBytes = 1 << 20;

    private static readonly AlignedBlock s_emptyBlock = new(LogFormat.BlockBytes);

    private readonly IFileSystem _fs;
    private readonly IFile _file;
    private readonly long _capacity;
    private readonly long _allocateStep;
    private readonly long _usualWindow, _firstZeros;
    private readonly Lock _preparing = new(); // one preparer at a time, and none that is disposed of
    private readonly AlignedBlock _header = new(2 * LogFormat.BlockBytes);

    // File offsets.
    private long _allocatedTo; // space is set aside below; only grows
    private long _zerosAt;     // zeros were written up to here, or pages of a take-over; only grows
    private long _preparedTo;  // ≤ _zerosAt: each block below was written and flushed once, so a write into it changes no metadata
    private long _writtenTo;   // behind the last page
    private readonly long _staleTo; // an earlier life of the file may show from _writtenTo up to here
    private bool _closed;

    private SegmentFile(IFileSystem fs, string path, IFile file, LogOptions options, long usedTo)
    {
        _fs = fs;
        Path = path;
        _file = file;
        _capacity = options.SegmentBytes;
        _allocateStep = options.AllocateStepBytes;
        _usualWindow = LogFormat.RoundUp(options.ZeroWindowBytes);
        _firstZeros = Math.Min(FirstZeroBytesMax, _usualWindow);
        IsDirect = options.WriteMode != LogWriteMode.Buffered && file.TryWriteDirect();
        if (!IsDirect && options.WriteMode == LogWriteMode.Direct)
            throw new IOException($"the file system of {path} cannot be written past the page cache, as was asked for");
        _staleTo = usedTo;
        _writtenTo = SegmentHeader.Bytes;
        _zerosAt = _preparedTo = Math.Max(usedTo, SegmentHeader.Bytes);
    }

    public string Path { get; private set; }

    public bool IsDirect { get; }

    /// <summary>It was a segment before: all of its blocks have been written once.</summary>
    public bool IsRecycled => _staleTo > 0;

    /// <summary>As it stands in the file; set by <see cref="WriteHeader"/>.</summary>
    public SegmentHeader Header { get => field ?? throw new InvalidOperationException($"{Path} has no header yet"); private set; }

    /// <summary>Lsn behind the last page.</summary>
    public Lsn End => Header.FirstLsn + (Volatile.Read(ref _writtenTo) - SegmentHeader.Bytes);

    /// <summary>Bytes left for pages.</summary>
    public long Left => _capacity - Volatile.Read(ref _writtenTo);

    /// <summary>
    /// Makes a file under a temporary or spare name and sets the beginning of its space aside. An unfinished one of that name is removed.
    /// </summary>
    /// <param name="bytes">Of pages that are to be written to it at once.</param>
    /// <exception cref="IOException">Also when the disk is full: then nothing is left that takes of the space that it lacks.</exception>
    public static SegmentFile Create(IFileSystem fs, string path, LogOptions options, long bytes = 0)
    {
        fs.Delete(path);
        try
        {
            return Owned(fs.Create(path), file =>
            {
                var made = new SegmentFile(fs, path, file, options, 0);
                made.Allocate(SegmentHeader.Bytes + bytes + MarkBytes);
                return made;
            });
        }
        catch (IOException e) when (NoSpace.Is(e))
        {
            fs.Delete(path);
            throw;
        }
    }

    /// <summary>
    /// Makes a former segment, which has a spare's name durably, ready to be another: its header goes, and with the next block its first
    /// page, and both are flushed before anything else is written. Whoever has the file open finds another header
    /// and knows that it is gone.
    /// </summary>
    public static SegmentFile Recycle(IFileSystem fs, string path, IFile file, LogOptions options) => Owned(file, used =>
    {
        if (used.Length > options.SegmentBytes) used.SetLength(options.SegmentBytes); // it had one record larger than a segment
        var recycled = new SegmentFile(fs, path, used, options, used.Length);
        recycled._file.Write(Zeros.Span[..(2 * LogFormat.BlockBytes)], 0);
        recycled.Flush();
        recycled.Allocate(options.SegmentBytes);
        return recycled;
    });

    public void WriteHeader(SegmentHeader header)
    {
        Header = header with { IsDirect = IsDirect, IsRecycled = IsRecycled };
        Header.Write(_header.Span);
        _file.Write(IsRecycled ? _header.Span : _header.Span[..SegmentHeader.Bytes], 0);
    }

    /// <summary>Renames the file to its segment's name; false when that is taken.</summary>
    public bool TryPublish(string path)
    {
        if (!_fs.TryRenameNew(Path, path)) return false;
        Path = path;
        return true;
    }

    /// <summary>Renames it to another name that is not yet a segment's.</summary>
    public void Rename(string path)
    {
        _fs.Rename(Path, path);
        Path = path;
    }

    /// <summary>True when <paramref name="bytes"/> of pages go beyond the segment's size and it holds any already.</summary>
    public bool IsFullFor(long bytes, bool isMark) =>
        _writtenTo > SegmentHeader.Bytes && _writtenTo + bytes > _capacity - (isMark ? 0 : MarkBytes);

    /// <summary>True when space is set aside for <paramref name="bytes"/> of pages, with a mark behind them.</summary>
    public bool HasRoomFor(long bytes, bool isMark) => _writtenTo + bytes + (isMark ? 0 : MarkBytes) <= Volatile.Read(ref _allocatedTo);

    /// <summary>True when <paramref name="bytes"/> of pages stand where zeros, or an earlier life of the file, stood before.</summary>
    public bool IsPreparedFor(long bytes) => _writtenTo + bytes <= Volatile.Read(ref _preparedTo);

    /// <summary>
    /// Writes pages that follow one another, padding included, behind the one before, with one call, where
    /// <see cref="IsPreparedFor"/> was true.
    /// </summary>
    public void Write(ReadOnlySpan<ReadOnlyMemory<byte>> pages, Lsn lsn)
    {
        long offset = Header.OffsetOf(lsn), end = EndOf(pages, offset);
        if (end > Volatile.Read(ref _preparedTo))
            throw new InvalidOperationException($"pages up to {end} of {Path}, which is prepared up to {_preparedTo}");
        WritePages(pages, offset, end);
    }

    /// <summary>
    /// The same before the file has its name, where there may be no zeros yet: what a take-over logs again. The flush that follows
    /// makes all of it durable.
    /// </summary>
    public void WriteAgain(ReadOnlyMemory<byte> page, Lsn lsn)
    {
        long offset = Header.OffsetOf(lsn), end = offset + page.Length;
        if (end > _allocatedTo)
            throw new InvalidOperationException($"a page up to {end} of {Path}, where space is set aside up to {_allocatedTo}");
        WritePages([page], offset, end);
        _zerosAt = Math.Max(_zerosAt, end);
        _preparedTo = Math.Max(_preparedTo, end);
    }

    /// <summary>Writes a few zeros behind what a take-over has logged again, before the flush that ends it.</summary>
    public void ZeroFirst()
    {
        long to = Math.Min(_allocatedTo, _writtenTo + _firstZeros);
        if (to <= _zerosAt) return;
        ZeroTo(to);
        _preparedTo = to;
    }

    public void Flush() => _file.Flush();

    /// <summary>
    /// Sets space aside: a step ahead of the pages, and enough for <paramref name="wanted"/> bytes more. False: there is no need.
    /// </summary>
    public bool AllocateAhead(long wanted)
    {
        lock (_preparing)
        {
            long written = Volatile.Read(ref _writtenTo), enough = Math.Min(_capacity, written + _allocateStep / 2);
            if (wanted > 0) enough = Math.Max(enough, written + wanted + MarkBytes);
            if (_closed || enough <= _allocatedTo) return false;
            Allocate(enough);
            return true;
        }
    }

    /// <summary>
    /// Zeroes one step of the window, 4 MiB at most, and flushes it; the committer may go on meanwhile. True: the window is not full yet.
    /// Each step holds commits up, so it waits until it is worth it: half a window, less for a committer that is faster than the zeros.
    /// </summary>
    /// <param name="awaited">Of the group that waits: it is zeroed at once, however small the step.</param>
    public bool ZeroAhead(long windowBytes, long awaited)
    {
        lock (_preparing)
        {
            if (_closed) return false;
            long written = Volatile.Read(ref _writtenTo), wanted = written + LogFormat.RoundUp(Math.Max(windowBytes, awaited)),
                target = Math.Min(_allocatedTo, wanted);
            long missing = target - _zerosAt,
                worth = windowBytes > _usualWindow ? Math.Min(HurriedStepBytes, windowBytes / 4) : windowBytes / 2;
            bool isAwaited = written + awaited > _zerosAt;
            if (missing <= 0 || (!isAwaited && target == wanted && missing < worth)) return false;
            ZeroTo(Math.Min(target, _zerosAt + Zeros.Bytes));
            FlushBesidePages();
            Volatile.Write(ref _preparedTo, _zerosAt);
            return _zerosAt < target;
        }
    }

    public void Dispose()
    {
        lock (_preparing)
        {
            _closed = true;
            _file.Dispose();
        }
    }

    private void ZeroTo(long end)
    {
        _file.Write(Zeros.Span[..(int)(end - _zerosAt)], _zerosAt);
        _zerosAt = end;
    }

    /// <summary>
    /// The kernel tells a failure once: one that this flush meets may be that of a page, so that it is final even
    /// where the disk is only full.
    /// </summary>
    private void FlushBesidePages()
    {
        try
        {
            _file.Flush();
        }
        catch (IOException e) when (NoSpace.Is(e))
        {
            throw new IOException($"{e.Message}, and what it concerns is not known", e);
        }
    }

    private static SegmentFile Owned(IFile file, Func<IFile, SegmentFile> make)
    {
        try
        {
            return make(file);
        }
        catch (IOException)
        {
            file.Dispose();
            throw;
        }
    }

    /// <summary>Sets aside the space up to <paramref name="end"/>, and the rest of a step with it.</summary>
    private void Allocate(long end)
    {
        long to = LogFormat.RoundUp(Math.Max(end, Math.Min(_capacity, end + _allocateStep)));
        _file.Allocate(to);
        Volatile.Write(ref _allocatedTo, to);
    }

    private static long EndOf(ReadOnlySpan<ReadOnlyMemory<byte>> pages, long offset)
    {
        foreach (ReadOnlyMemory<byte> page in pages) offset += page.Length;
        return offset;
    }

    private void WritePages(ReadOnlySpan<ReadOnlyMemory<byte>> pages, long offset, long end)
    {
        if (offset != _writtenTo)
            throw new InvalidOperationException($"pages would stand at {offset} of {Path}, which ends at {_writtenTo}");
        if (end >= _staleTo) _file.Write(pages, offset);
        else _file.Write([.. pages, s_emptyBlock.Memory], offset);
        Volatile.Write(ref _writtenTo, end);
    }
}
