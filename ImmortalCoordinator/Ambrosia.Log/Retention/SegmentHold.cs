using Ambrosia.Log.Segments;

namespace Ambrosia.Log.Retention;

/// <summary>Describes the segment at which truncation stands, because a reader holds it.</summary>
/// <param name="Since">The time of the first truncation that it stopped.</param>
/// <param name="Bytes">Bytes of log, from this segment on, that stay only because of it.</param>
public sealed record SegmentHold(LogSegment Segment, DateTimeOffset Since, long Bytes);
