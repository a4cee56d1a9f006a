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
