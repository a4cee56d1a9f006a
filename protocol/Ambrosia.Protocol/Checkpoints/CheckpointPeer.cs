namespace Ambrosia.Protocol;

/// <summary>A peer as a checkpoint keeps it (log-format L6.2).</summary>
/// <param name="Origin">Its origin id in the log, from 1.</param>
/// <param name="Epoch">Highest epoch seen of it.</param>
/// <param name="Impulses">Impulses of that epoch that are in the log.</param>
public sealed record CheckpointPeer(uint Origin, InstanceId Peer, Guid Uuid, Epoch Epoch, ulong Impulses);
