using Ambrosia.Protocol.Runs;

namespace Ambrosia.Protocol.Checkpoints;

/// <summary>States the last emitted and the last trimmed message of the outputs to one destination (log-format L6.2).</summary>
/// <param name="LastKind">Kind of the last message; 0 before the first.</param>
public sealed record CheckpointOutput(
    InstanceId Destination, ulong Number, ulong Hash, MessageKind LastKind, ulong TrimmedNumber, ulong TrimmedHash,
    MessageKind TrimmedLastKind);
