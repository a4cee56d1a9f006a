using Ambrosia.Protocol;

namespace Ambrosia.Coordinator;

/// <summary>
/// A checkpoint mark that has been delivered: the fold right behind it, from which the fold at the checkpoint's place is made.
/// </summary>
/// <param name="End">End of its record.</param>
internal sealed record MarkNote(Lsn PageLsn, Lsn End, DeliveredState State, CheckpointMarkRecord Mark);
