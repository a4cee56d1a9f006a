using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Protocol.Locking;

namespace Ambrosia.Log.Segments;

/// <summary>
/// Prepares the space of one segment file: it sets disk space aside in steps and zeroes it ahead of the pages. The space pump prepares,
/// one thread at a time; the committer only asks what is prepared. Invariant: pages end at or below <see cref="PreparedTo"/>, which is at
/// or below <c>_zerosAt</c>, which is at or below <c>_allocatedTo</c>, which is at or below <see cref="FileBytes"/>; all are file offsets
/// and only grow, the last one only while the file has no segment's name. So no page of the committer ever meets a full disk, makes the
/// file grow, or stands where zeros are still to come. How much of the file was written is known here alone: its length says nothing of
/// it. It owns the two openings of the file. The kernel tells each opening once of what could not be written back, so that the flush of
/// zeros takes no error from the flush of pages, nor the other way round.
/// </summary>
internal sealed class SegmentSpace : IDisposable
{
    /// <summary>A take-over writes so many zeros itself, so that the first pages behind it wait for nobody.</summary>
    private const int FirstZeroBytesMax = 256 << 10;

    /// <summary>A step of zeroing adds at least so much where the committer was faster than the zeros.</summary>
    private const int CatchUpStepBytes = 1 << 20;

    private readonly IFile _pages;
    private readonly IFile _zeros; // an opening of the same file, which only this type uses
    private readonly long _capacity;
    private readonly long _allocateStep;
    private readonly long _usualWindow;
    private readonly RankedLock _preparing = new(LockRank.SegmentSpace); // one thread prepares at a time, and none after disposal
    private long _fileBytes;   // the file's length
    private long _allocatedTo; // space is set aside below this
    private long _zerosAt;     // zeros, or pages of a take-over, were written up to here
    private long _preparedTo;  // each block below was written and flushed before, so a write into it changes no metadata
    private bool _closed;

    /// <param name="pages">The opening through which pages are written and flushed.</param>
    /// <param name="zeros">Another opening of the same file.</param>
    /// <param name="usedTo">An earlier life of the file has written everything below this; 0 for a new file.</param>
    /// <param name="fileBytes">The length of the file.</param>
    public SegmentSpace(IFile pages, IFile zeros, LogOptions options, long usedTo, long fileBytes)
    {
        _fileBytes = fileBytes;
        _pages = pages;
        _zeros = zeros;
        _capacity = options.SegmentBytes;
        _allocateStep = options.AllocateStepBytes;
        _usualWindow = AlignedBlock.RoundUp(options.ZeroWindowBytes);
        _zerosAt = _preparedTo = Math.Max(usedTo, SegmentHeader.Bytes);
        _allocatedTo = usedTo;
    }

    /// <summary>The length of the file, which its segment's header states.</summary>
    public long FileBytes => Volatile.Read(ref _fileBytes);

    /// <summary>Space is set aside below this file offset.</summary>
    public long AllocatedTo => Volatile.Read(ref _allocatedTo);

    /// <summary>
    /// Every block below this file offset was written and flushed before, with zeros, in an earlier life of the file, or by a take-over.
    /// </summary>
    public long PreparedTo => Volatile.Read(ref _preparedTo);

    /// <summary>Sets aside the space up to <paramref name="end"/>, and the rest of a step with it.</summary>
    public void Allocate(long end)
    {
        long to = AlignedBlock.RoundUp(Math.Max(end, Math.Min(_capacity, end + _allocateStep)));
        if (to > _fileBytes) throw new InvalidOperationException($"space up to {to} of a file of {_fileBytes} bytes");
        if (to <= _allocatedTo) return;
        _zeros.Allocate(_allocatedTo, to);
        Volatile.Write(ref _allocatedTo, to);
    }

    /// <summary>
    /// Makes a file longer, which takes no space yet, so that it can hold a record that is larger than a segment. The file has no segment's
    /// name, and nobody gives it one meanwhile.
    /// </summary>
    public void Extend(long end)
    {
        long to = AlignedBlock.RoundUp(end);
        if (to <= _fileBytes) return;
        _pages.SetLength(to);
        Volatile.Write(ref _fileBytes, to);
    }

    /// <summary>
    /// Counts the space up to <paramref name="end"/> as prepared: a take-over has written pages there, and flushes them before anybody
    /// relies on them.
    /// </summary>
    public void AddRelogged(long end)
    {
        _zerosAt = Math.Max(_zerosAt, end);
        _preparedTo = Math.Max(_preparedTo, end);
    }

    /// <summary>Writes a few zeros behind what a take-over has logged again, before the flush that ends it.</summary>
    /// <param name="written">The end of the last page.</param>
    public void ZeroFirst(long written)
    {
        long to = Math.Min(_allocatedTo, written + Math.Min(FirstZeroBytesMax, _usualWindow));
        if (to <= _zerosAt) return;
        ZeroTo(to);
        _preparedTo = to;
    }

    /// <summary>
    /// Sets space aside: a step ahead of the pages, and enough for <paramref name="wanted"/> bytes more. Returns false when there is no
    /// need.
    /// </summary>
    /// <param name="written">The end of the last page.</param>
    public bool AllocateAhead(long written, long wanted)
    {
        using (_preparing.Enter())
        {
            long enough = Math.Min(_capacity, written + _allocateStep / 2);
            if (wanted > 0) enough = Math.Max(enough, written + wanted + SegmentFile.MarkBytes);
            enough = Math.Min(enough, _fileBytes);
            if (_closed || enough <= _allocatedTo) return false;
            Allocate(enough);
            return true;
        }
    }

    /// <summary>
    /// Zeroes one step of the window behind the pages, at most 4 MiB, and flushes it; the committer may go on meanwhile. Returns true while
    /// the window is not full. Each step holds commits up, so it is done only when it is worth it: half a window, or less for a committer
    /// that is faster than the zeros.
    /// </summary>
    /// <param name="written">The end of the last page.</param>
    /// <param name="awaited">Bytes of the group that waits for zeros: they are zeroed at once, however small the step.</param>
    public bool ZeroAhead(long written, long windowBytes, long awaited)
    {
        using (_preparing.Enter())
        {
            if (_closed) return false;
            long wanted = written + AlignedBlock.RoundUp(Math.Max(windowBytes, awaited)),
                target = Math.Min(_allocatedTo, wanted);
            long missing = target - _zerosAt,
                worth = windowBytes > _usualWindow ? Math.Min(CatchUpStepBytes, windowBytes / 4) : windowBytes / 2;
            bool isAwaited = written + awaited > _zerosAt;
            if (missing <= 0 || (!isAwaited && target == wanted && missing < worth)) return false;
            ZeroTo(Math.Min(target, _zerosAt + Preallocator.StepBytes));
            FlushBesidePages();
            Volatile.Write(ref _preparedTo, _zerosAt);
            return _zerosAt < target;
        }
    }

    /// <summary>Closes the file, when no step is under way.</summary>
    public void Dispose()
    {
        using (_preparing.Enter())
        {
            _closed = true;
            _zeros.Dispose();
            _pages.Dispose();
        }
    }

    private void ZeroTo(long end)
    {
        _zeros.Write(Preallocator.ZeroBytes[..(int)(end - _zerosAt)], _zerosAt);
        _zerosAt = end;
    }

    /// <summary>
    /// Flushes while the committer may be writing pages. A failure that this flush meets may be that of a page, and is final even where
    /// the system refuses it only for now: what was to be flushed is not tried again. The committer's own flush meets it too.
    /// </summary>
    private void FlushBesidePages()
    {
        try
        {
            _zeros.Flush();
        }
        catch (IOException e) when (IFileSystem.IsNotNow(e))
        {
            throw new IOException($"{e.Message}, and what it concerns is not known", e);
        }
    }
}
