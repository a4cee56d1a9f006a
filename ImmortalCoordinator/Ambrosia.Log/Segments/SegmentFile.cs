using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Protocol;

namespace Ambrosia.Log.Segments;

/// <summary>
/// One segment file that this process made and writes. The committer writes pages; the space pump prepares their space. Invariant: pages
/// stand only where <see cref="SegmentSpace"/> has prepared it, and behind the last page of each write stand at least 4,096 zero bytes, or
/// the end of what was ever written.
/// </summary>
internal sealed class SegmentFile : IDisposable
{
    /// <summary>At the end of the allocated space, and of the segment, only a durable mark is written into this many bytes.</summary>
    public const int MarkBytes = LogFormat.BlockBytes;

    private static readonly AlignedBlock s_emptyBlock = new(LogFormat.BlockBytes);

    private readonly IFileSystem _fs;
    private readonly IFile _file;
    private readonly SegmentSpace _space;
    private readonly AlignedBlock _header = new(2 * LogFormat.BlockBytes);
    private readonly long _staleTo; // from _writtenTo up to this file offset an earlier life of the file may show
    private long _writtenTo; // file offset of the end of the last page

    private SegmentFile(IFileSystem fs, string path, IFile file, LogOptions options, long usedTo, long fileBytes)
    {
        _fs = fs;
        Path = path;
        _file = file;
        IsDirect = options.WriteMode != LogWriteMode.Buffered && file.TryWriteDirect();
        if (!IsDirect && options.WriteMode == LogWriteMode.Direct)
            throw new IOException($"the file system of {path} cannot be written past the page cache, as was asked for");
        _space = new SegmentSpace(file, OpenForZeros(), options, usedTo, fileBytes);
        _staleTo = usedTo;
        _writtenTo = SegmentHeader.Bytes;
    }

    public string Path { get; private set; }

    public bool IsDirect { get; }

    /// <summary>True when the file was a segment before: all of its blocks have been written.</summary>
    public bool IsRecycled => _staleTo > 0;

    /// <summary>The header as it stands in the file; <see cref="WriteHeader"/> sets it.</summary>
    public SegmentHeader Header { get => field ?? throw new InvalidOperationException($"{Path} has no header yet"); private set; }

    /// <summary>The position behind the last page.</summary>
    public Lsn End => Header.FirstLsn + (Volatile.Read(ref _writtenTo) - SegmentHeader.Bytes);

    /// <summary>The number of bytes that are left for pages.</summary>
    public long Left => _space.FileBytes - Volatile.Read(ref _writtenTo);

    /// <summary>
    /// Every block below this file offset was written and flushed, in this life of the file or an earlier one. The file's length says
    /// nothing about it.
    /// </summary>
    public long PreparedTo => _space.PreparedTo;

    /// <summary>
    /// Makes a file under a temporary or spare name, gives it its length, and sets the beginning of its space aside. An unfinished file of
    /// that name is removed.
    /// </summary>
    /// <param name="bytes">Bytes of pages that are written to it at once.</param>
    /// <exception cref="IOException">Also when the disk is full; then nothing is left behind that takes of the space that the disk
    /// lacks.</exception>
    public static SegmentFile Create(IFileSystem fs, string path, LogOptions options, long bytes = 0)
    {
        fs.Delete(path);
        try
        {
            IFile file = fs.Create(path);
            return DisposeOnFailure(file, () => new SegmentFile(fs, path, file, options, 0, 0), made =>
            {
                made._space.Extend(Math.Max(options.SegmentBytes, BytesFor(bytes)));
                made._space.Allocate(BytesFor(bytes));
            });
        }
        catch (IOException e) when (IFileSystem.IsNotNow(e))
        {
            fs.Delete(path);
            throw;
        }
    }

    /// <summary>
    /// Makes a former segment, which has a spare's name durably, ready to become another segment. Its header and its first page are
    /// overwritten with zeros, and these are flushed before anything else is written. Whoever has the file open finds another header and
    /// knows that the segment is gone.
    /// </summary>
    /// <param name="preparedTo">The <see cref="PreparedTo"/> of the file's life as a segment.</param>
    public static SegmentFile Recycle(IFileSystem fs, string path, IFile file, LogOptions options, long preparedTo) =>
        DisposeOnFailure(
            file,
            () => new SegmentFile(fs, path, file, options, Math.Min(preparedTo, options.SegmentBytes), options.SegmentBytes),
            recycled =>
            {
                file.Write(Preallocator.ZeroBytes[..(2 * LogFormat.BlockBytes)], 0);
                recycled.Flush();
                // The segment may have held one record larger than a segment. Nobody takes the file for it any more.
                if (file.Length != options.SegmentBytes) file.SetLength(options.SegmentBytes);
                recycled._space.Allocate(options.SegmentBytes);
            });

    /// <summary>
    /// Makes a file that has no segment's name yet long enough for <paramref name="bytes"/> of pages; this takes no space.
    /// </summary>
    public void ExtendFor(long bytes) => _space.Extend(BytesFor(bytes));

    public void WriteHeader(SegmentHeader header)
    {
        Header = header with { IsDirect = IsDirect, IsRecycled = IsRecycled, FileBytes = _space.FileBytes };
        Header.Write(_header.Span);
        _file.Write(IsRecycled ? _header.Span : _header.Span[..SegmentHeader.Bytes], 0);
    }

    /// <summary>Renames the file to its segment's name; returns false when that name is taken.</summary>
    public bool TryPublish(string path)
    {
        if (!_fs.TryRenameNew(Path, path)) return false;
        Path = path;
        return true;
    }

    /// <summary>Renames the file to another name that is not yet a segment's.</summary>
    public void Rename(string path)
    {
        _fs.Rename(Path, path);
        Path = path;
    }

    /// <summary>True when <paramref name="bytes"/> of pages go beyond the file's length, which never changes.</summary>
    public bool IsFullFor(long bytes, bool isMark) => _writtenTo + bytes > _space.FileBytes - (isMark ? 0 : MarkBytes);

    /// <summary>True when space is set aside for <paramref name="bytes"/> of pages, with a mark behind them.</summary>
    public bool HasRoomFor(long bytes, bool isMark) => _writtenTo + bytes + (isMark ? 0 : MarkBytes) <= _space.AllocatedTo;

    /// <summary>
    /// True when every block that <paramref name="bytes"/> of pages need was written before, with zeros or in an earlier life of the file.
    /// </summary>
    public bool IsPreparedFor(long bytes) => _writtenTo + bytes <= _space.PreparedTo;

    /// <summary>
    /// Writes pages that follow one another, padding included, behind the last page, with one call. <see cref="IsPreparedFor"/> was true
    /// for them.
    /// </summary>
    public void Write(ReadOnlySpan<ReadOnlyMemory<byte>> pages, Lsn lsn)
    {
        long offset = Header.OffsetOf(lsn), end = EndOf(pages, offset);
        if (end > _space.PreparedTo)
            throw new InvalidOperationException($"pages up to {end} of {Path}, which is prepared up to {_space.PreparedTo}");
        WritePages(pages, offset, end);
    }

    /// <summary>
    /// Writes a page that a take-over logs again, before the file has its name, where there may be no zeros yet. The flush that follows
    /// makes all of it durable.
    /// </summary>
    public void WriteRelogged(ReadOnlyMemory<byte> page, Lsn lsn)
    {
        long offset = Header.OffsetOf(lsn), end = offset + page.Length;
        if (end > _space.AllocatedTo)
            throw new InvalidOperationException($"a page up to {end} of {Path}, where space is set aside up to {_space.AllocatedTo}");
        WritePages([page], offset, end);
        _space.AddRelogged(end);
    }

    /// <summary>Writes a few zeros behind what a take-over has logged again, before the flush that ends it.</summary>
    public void ZeroFirst() => _space.ZeroFirst(_writtenTo);

    public void Flush() => _file.Flush();

    /// <inheritdoc cref="SegmentSpace.AllocateAhead"/>
    public bool AllocateAhead(long wanted) => _space.AllocateAhead(Volatile.Read(ref _writtenTo), wanted);

    /// <inheritdoc cref="SegmentSpace.ZeroAhead"/>
    public bool ZeroAhead(long windowBytes, long awaited) => _space.ZeroAhead(Volatile.Read(ref _writtenTo), windowBytes, awaited);

    public void Dispose() => _space.Dispose();

    private IFile OpenForZeros()
    {
        IFile zeros = _fs.Open(Path, FileUse.ReadWrite);
        if (IsDirect && !zeros.TryWriteDirect())
        {
            zeros.Dispose();
            throw new IOException($"{Path} can be written past the page cache through one opening, and not through another");
        }
        return zeros;
    }

    /// <summary>A file of this length holds so many bytes of pages, with a mark behind them.</summary>
    private static long BytesFor(long bytes) => SegmentHeader.Bytes + bytes + MarkBytes;

    /// <summary>Makes a segment's file of an open one, and closes all that is open of it when that fails.</summary>
    private static SegmentFile DisposeOnFailure(IFile file, Func<SegmentFile> make, Action<SegmentFile> prepare)
    {
        SegmentFile? made = null;
        try
        {
            made = make();
            prepare(made);
            return made;
        }
        catch (IOException)
        {
            made?.Dispose();
            file.Dispose();
            throw;
        }
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
