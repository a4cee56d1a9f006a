namespace Ambrosia.Protocol.Checkpoints;

/// <summary>States what a checkpoint keeps of a peer (log-format L6.2).</summary>
/// <param name="Origin">Origin id in the log, from 1; 0 for the instance itself, which is there for the impulses of its own app.</param>
/// <param name="Epoch">Highest epoch seen of the peer; 0 if it was forgotten (L5.14). For the instance itself it is the epoch of its last
/// impulses.</param>
/// <param name="Impulses">Number of impulses of that epoch that are in the log.</param>
public sealed record CheckpointPeer(uint Origin, InstanceId Peer, Guid Uuid, Epoch Epoch, ulong Impulses);
