namespace Ambrosia.Protocol.Checkpoints;

/// <summary>States how many messages had been emitted to one destination at the last digest position (log-format L6.2).</summary>
public sealed record CheckpointDigestCount(InstanceId Destination, ulong Count);
