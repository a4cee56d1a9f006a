namespace Ambrosia.Log;

/// <summary>
/// Counters of one log since its take-over. Written by the committer (NoRoom by any writer, the counts of space by whoever sees
/// to it), read by anybody.
/// </summary>
public sealed class LogMetrics
{
    private long _groups, _pages, _fileBytes, _rotations, _marks, _zeroWaits, _spanning, _noRoom, _spaceWaits, _shortages, _recycled;

    /// <summary>Commit groups, each with one flush and one fence check.</summary>
    public long Groups => Interlocked.Read(ref _groups);

    public long Pages => Interlocked.Read(ref _pages);

    /// <summary>Bytes written, headers and padding included.</summary>
    public long FileBytes => Interlocked.Read(ref _fileBytes);

    public long Rotations => Interlocked.Read(ref _rotations);

    public long Marks => Interlocked.Read(ref _marks);

    /// <summary>Groups that waited until their place in the file was zeroed: the window is too small for the rate.</summary>
    public long ZeroWaits => Interlocked.Read(ref _zeroWaits);

    public long SpanningRecords => Interlocked.Read(ref _spanning);

    /// <summary>Reservations refused because every page was filled: the disk is behind.</summary>
    public long NoRoom => Interlocked.Read(ref _noRoom);

    /// <summary>Groups that waited until space was set aside for them.</summary>
    public long SpaceWaits => Interlocked.Read(ref _spaceWaits);

    /// <summary>How often the disk became full.</summary>
    public long Shortages => Interlocked.Read(ref _shortages);

    /// <summary>Trimmed segments whose files were kept to be written again.</summary>
    public long Recycled => Interlocked.Read(ref _recycled);

    internal void CountPages(int pages, long bytes)
    {
        Interlocked.Add(ref _pages, pages);
        Interlocked.Add(ref _fileBytes, bytes);
    }

    internal void CountWait(bool isForZeros)
    {
        if (isForZeros) Interlocked.Increment(ref _zeroWaits);
        else Interlocked.Increment(ref _spaceWaits);
    }

    internal void CountShortage() => Interlocked.Increment(ref _shortages);

    internal void CountRecycled() => Interlocked.Increment(ref _recycled);

    internal void CountGroup() => Interlocked.Increment(ref _groups);

    internal void CountRotation() => Interlocked.Increment(ref _rotations);

    internal void CountMark() => Interlocked.Increment(ref _marks);

    internal void CountSpanning() => Interlocked.Increment(ref _spanning);

    internal void CountNoRoom() => Interlocked.Increment(ref _noRoom);
}
