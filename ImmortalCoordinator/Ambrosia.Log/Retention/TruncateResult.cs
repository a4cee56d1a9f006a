using Ambrosia.Log.Checkpoints;
using Ambrosia.Log.Segments;
using Ambrosia.Protocol;

namespace Ambrosia.Log.Retention;

/// <summary>Says what one truncation did.</summary>
/// <param name="SegmentsRemoved">How many segments were removed or recycled.</param>
/// <param name="Damaged">Checkpoints that were skipped because they are damaged, newest first; a caller logs them.</param>
/// <param name="KeptFrom">The log is kept from the page at this position on.</param>
/// <param name="Held">The segment at which the truncation stopped because a reader holds it; null when it did all that there was to
/// do.</param>
/// <param name="Taken">What was removed although a reader held it, since the limit was reached, oldest first; a caller logs it.</param>
public sealed record TruncateResult(
    int CheckpointsRemoved, int SegmentsRemoved, IReadOnlyList<CheckpointFileName> Damaged, Lsn KeptFrom, LogSegment? Held,
    IReadOnlyList<SegmentHold> Taken);
