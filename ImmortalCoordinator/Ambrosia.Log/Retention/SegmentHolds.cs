using Ambrosia.Log.Segments;

namespace Ambrosia.Log.Retention;

/// <summary>
/// Knows which segment readers hold, since when, and when that has been enough. Waiting is measured by the monotonic clock. The thread that
/// truncates reports; any thread reads <see cref="Current"/>.
/// </summary>
public sealed class SegmentHolds(HoldLimit limit, TimeProvider time)
{
    private SegmentHold? _current;
    private long _since; // timestamp of the first truncation that the segment stopped

    /// <summary>The segment that is held now; null when readers hold nothing that should go.</summary>
    public SegmentHold? Current => Volatile.Read(ref _current);

    /// <summary>Remembers that a reader holds a segment which should go. Returns true when it goes all the same.</summary>
    /// <param name="bytes">Bytes of log that stay because of it.</param>
    internal bool MustGo(LogSegment segment, long bytes)
    {
        SegmentHold? known = _current;
        bool isNew = known?.Segment != segment;
        if (isNew) _since = time.GetTimestamp();
        Volatile.Write(ref _current, new SegmentHold(segment, isNew ? time.GetUtcNow() : known!.Since, bytes));
        return bytes > limit.Bytes || time.GetElapsedTime(_since) > limit.Time;
    }

    /// <summary>Forgets what was held, since readers hold nothing that should go.</summary>
    internal void Clear() => Volatile.Write(ref _current, null);
}

/// <summary>Describes the segment at which truncation stands, because a reader holds it.</summary>
/// <param name="Since">The time of the first truncation that it stopped.</param>
/// <param name="Bytes">Bytes of log, from this segment on, that stay only because of it.</param>
public sealed record SegmentHold(LogSegment Segment, DateTimeOffset Since, long Bytes);

/// <summary>
/// Bounds how long, and by how much log, a reader may keep a truncation from going on. A process that is stopped keeps its locks, so that
/// without a bound it would fill the primary's disk.
/// </summary>
/// <param name="Time">A segment is held for so long at most, counted from the truncation that it stopped first.</param>
/// <param name="Bytes">So many bytes of log are kept at most because of a held segment.</param>
public sealed record HoldLimit(TimeSpan Time, long Bytes)
{
    /// <summary>The usual limit is one hour and 16 GiB.</summary>
    public static HoldLimit Default { get; } = new(TimeSpan.FromHours(1), 16L << 30);
}
