using Ambrosia.Log.Segments;

namespace Ambrosia.Log.Commit;

/// <summary>
/// Counts what one log did since its take-over. The committer counts, writers count NoRoom, and the segments count what concerns space; any
/// thread reads.
/// </summary>
public sealed class LogMetrics
{
    private readonly SpaceCounters _space;
    private long _groups, _pages, _fileBytes, _rotations, _marks, _spanning, _noRoom;

    internal LogMetrics(SpaceCounters space) => _space = space;

    /// <summary>The number of commit groups, each with one flush and one fence check.</summary>
    public long Groups => Interlocked.Read(ref _groups);

    public long Pages => Interlocked.Read(ref _pages);

    /// <summary>The number of bytes written, headers and padding included.</summary>
    public long FileBytes => Interlocked.Read(ref _fileBytes);

    public long Rotations => Interlocked.Read(ref _rotations);

    public long Marks => Interlocked.Read(ref _marks);

    /// <summary>
    /// The number of groups that waited until their place in the file was zeroed; when they are many, the window is too small for the rate.
    /// </summary>
    public long ZeroWaits => _space.ZeroWaits;

    public long SpanningRecords => Interlocked.Read(ref _spanning);

    /// <summary>The number of reservations that were refused because every page was filled: the disk is behind.</summary>
    public long NoRoom => Interlocked.Read(ref _noRoom);

    /// <summary>The number of groups that waited until space was set aside for them.</summary>
    public long SpaceWaits => _space.SpaceWaits;

    /// <summary>The number of times that the disk became full.</summary>
    public long Shortages => _space.Shortages;

    /// <summary>The number of trimmed segments whose files were kept to be written again.</summary>
    public long Recycled => _space.Recycled;

    internal void CountPages(int pages, long bytes)
    {
        Interlocked.Add(ref _pages, pages);
        Interlocked.Add(ref _fileBytes, bytes);
    }

    internal void CountGroup() => Interlocked.Increment(ref _groups);

    internal void CountRotation() => Interlocked.Increment(ref _rotations);

    internal void CountMark() => Interlocked.Increment(ref _marks);

    internal void CountSpanning() => Interlocked.Increment(ref _spanning);

    internal void CountNoRoom() => Interlocked.Increment(ref _noRoom);
}
