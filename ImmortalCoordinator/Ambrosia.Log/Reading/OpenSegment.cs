using Ambrosia.Log.Files;
using Ambrosia.Log.Segments;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Locking;

namespace Ambrosia.Log.Reading;

/// <summary>
/// The one segment that a <see cref="LogReader"/> has open, with the openings of its file and, if the reader holds what it reads, the
/// shared lock that keeps a truncation from taking it. The reader's thread opens and reads; <see cref="ReleaseIfIdle"/> and
/// <see cref="StopHolding"/> may come from other threads. Invariant: the inspector and the file are both there, or neither is.
/// </summary>
internal sealed class OpenSegment(IFileSystem fs, bool holds) : IDisposable
{
    /// <summary>The number of bytes that are read at once when pages are small.</summary>
    private const int DirectBytes = 256 << 10;

    private readonly RankedLock _holding = new(LockRank.OpenSegment); // guards who holds what
    private volatile bool _holds = holds;
    private IFile? _held; // the open segment while it is locked; else null
    private long _reads, _readsSeen;
    private PageInspector? _inspector;
    private IFile? _file;
    private (IFile File, DirectReader Pages)? _direct; // a second opening where the segment is written past the cache
    private bool _isNotDirect; // the open segment cannot be read past the cache
    private ReadAhead? _ahead; // of the first opening

    /// <summary>Reads and checks pages of the open segment.</summary>
    public PageInspector Inspector => _inspector ?? throw new InvalidOperationException("no segment is open");

    public LogSegment Segment => Inspector.Segment;

    /// <summary>The first opening, through the page cache.</summary>
    public IFile File => _file ?? throw new InvalidOperationException("no segment is open");

    /// <summary>True when this very segment is open.</summary>
    public bool Is(LogSegment segment) => _inspector is not null && _inspector.Segment == segment;

    /// <summary>Counts a read that begins, so that the segment does not count as idle.</summary>
    public void CountRead() => Interlocked.Increment(ref _reads);

    /// <summary>Opens a segment in place of the one before; returns false, and changes nothing, when it was truncated.</summary>
    public bool TryChangeTo(LogSegment segment)
    {
        if (segment.TryOpen(fs, isHeld: false) is not { } file) return false;
        Dispose();
        _file = file;
        _isNotDirect = !segment.IsDirect;
        _ahead = new ReadAhead(file);
        _inspector = new PageInspector(segment);
        return true;
    }

    /// <summary>Holds the open segment, again if it was released. Returns false when it was truncated meanwhile.</summary>
    public bool TryHold()
    {
        using (_holding.Enter())
        {
            if (!_holds || _held is not null) return true;
            if (!File.TryLock(FileLockKind.Shared)) return false;
            if (IsGone())
            {
                File.Unlock();
                return false;
            }
            _held = File;
            return true;
        }
    }

    /// <summary>
    /// Returns true when the file was recycled under its reader, which explains a page that is not what it should be. The header says so
    /// before anything else in the file changes (L3.5).
    /// </summary>
    public bool IsGone() => !Segment.IsStillIn(File);

    /// <summary>Returns the opening that bypasses the page cache, or the usual one where the file system has no such thing.</summary>
    /// <param name="limit">Nothing below this position changes any more (F3).</param>
    public IReadable PastCache(Lsn limit)
    {
        if (_isNotDirect) return File;
        _direct ??= TryOpenDirect();
        _isNotDirect = _direct is null;
        if (_direct is not { Pages: var pages }) return File;
        pages.Limit = Segment.Header.OffsetOf(limit);
        return pages;
    }

    /// <summary>Asks for what stands ahead of a page that is read through the cache, as those before it were.</summary>
    /// <param name="limit">Nothing from this position on is read.</param>
    public void ReadAhead(Lsn at, Lsn limit) => _ahead!.From(Segment.Header.OffsetOf(at), Segment.Header.OffsetOf(limit));

    /// <summary>Forgets what was read ahead, so that the next read comes from the device.</summary>
    public void DropReadAhead() => _direct?.Pages.Drop();

    /// <summary>Releases the segment if nothing was read since the last call. Any thread.</summary>
    public void ReleaseIfIdle()
    {
        long reads = Interlocked.Read(ref _reads);
        if (Interlocked.Exchange(ref _readsSeen, reads) == reads) Release();
    }

    /// <summary>Releases the segment, and holds none from here on. Any thread.</summary>
    public void StopHolding()
    {
        _holds = false;
        Release();
    }

    /// <summary>Closes both openings, which ends the lock.</summary>
    public void Dispose()
    {
        using (_holding.Enter())
        {
            _held = null;
            _file?.Dispose();
            _file = null;
            _direct?.File.Dispose();
            _direct = null;
        }
    }

    /// <summary>
    /// Opens the segment a second time, for direct reads. The first opening stays as it is, since reads of the header have any size.
    /// </summary>
    private (IFile, DirectReader)? TryOpenDirect()
    {
        if (Segment.TryOpen(fs, isHeld: false) is not { } file) return null;
        if (DirectReader.TryMake(file, DirectBytes) is { } pages) return (file, pages);
        file.Dispose();
        return null;
    }

    private void Release()
    {
        using (_holding.Enter())
        {
            _held?.Unlock();
            _held = null;
        }
    }
}
