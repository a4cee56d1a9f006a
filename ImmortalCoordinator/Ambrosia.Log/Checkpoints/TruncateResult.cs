using Ambrosia.Protocol;

namespace Ambrosia.Log;

/// <summary>What a truncation removed.</summary>
/// <param name="Damaged">Checkpoints that were skipped, newest first: worth a loud line.</param>
/// <param name="KeptFrom">The log is kept from the page at this position on.</param>
public sealed record TruncateResult(int CheckpointsRemoved, int SegmentsRemoved, IReadOnlyList<CheckpointFileName> Damaged, Lsn KeptFrom);
