using Ambrosia.Protocol;

namespace Ambrosia.Log;

/// <summary>What a truncation did.</summary>
/// <param name="SegmentsRemoved">Removed or recycled.</param>
/// <param name="Damaged">Checkpoints that were skipped, newest first: worth a loud line.</param>
/// <param name="KeptFrom">The log is kept from the page at this position on.</param>
/// <param name="Held">The segment at which it stopped because somebody reads it; null: it did all that there was to do.</param>
public sealed record TruncateResult(
    int CheckpointsRemoved, int SegmentsRemoved, IReadOnlyList<CheckpointFileName> Damaged, Lsn KeptFrom, LogSegment? Held);
