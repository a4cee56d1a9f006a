namespace Ambrosia.Log;

/// <summary>Counters of one log since its take-over. Written by the committer (NoRoom by any writer), read by anybody.</summary>
public sealed class LogMetrics
{
    private long _groups, _pages, _fileBytes, _rotations, _marks, _zeroStalls, _spanning, _noRoom;

    /// <summary>Commit groups, each with one flush and one fence check.</summary>
    public long Groups => Interlocked.Read(ref _groups);

    public long Pages => Interlocked.Read(ref _pages);

    /// <summary>Bytes written, headers and padding included.</summary>
    public long FileBytes => Interlocked.Read(ref _fileBytes);

    public long Rotations => Interlocked.Read(ref _rotations);

    public long Marks => Interlocked.Read(ref _marks);

    /// <summary>Pages that left the zeroed window, so that their flush had to allocate: the window is too small for the rate.</summary>
    public long ZeroStalls => Interlocked.Read(ref _zeroStalls);

    public long SpanningRecords => Interlocked.Read(ref _spanning);

    /// <summary>Reservations refused because every page was filled: the disk is behind.</summary>
    public long NoRoom => Interlocked.Read(ref _noRoom);

    internal void CountPage(int bytes, bool isZeroed)
    {
        Interlocked.Increment(ref _pages);
        Interlocked.Add(ref _fileBytes, bytes);
        if (!isZeroed) Interlocked.Increment(ref _zeroStalls);
    }

    internal void CountGroup() => Interlocked.Increment(ref _groups);

    internal void CountRotation() => Interlocked.Increment(ref _rotations);

    internal void CountMark() => Interlocked.Increment(ref _marks);

    internal void CountSpanning() => Interlocked.Increment(ref _spanning);

    internal void CountNoRoom() => Interlocked.Increment(ref _noRoom);
}
