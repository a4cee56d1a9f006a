namespace Ambrosia.Protocol;

/// <summary>A peer as a checkpoint keeps it (log-format L6.2).</summary>
/// <param name="Origin">Its origin id in the log, from 1; 0: the instance itself, there for the impulses that it gets
/// from its own app.</param>
/// <param name="Epoch">Highest epoch seen of it; 0: it was forgotten (L5.14). Of the instance itself that of its last impulses.</param>
/// <param name="Impulses">Impulses of that epoch that are in the log.</param>
public sealed record CheckpointPeer(uint Origin, InstanceId Peer, Guid Uuid, Epoch Epoch, ulong Impulses);
