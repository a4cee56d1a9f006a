namespace Ambrosia.Protocol;

/// <summary>Where the outputs to one destination stand (log-format L6.2): the last emitted message and the last trimmed one.</summary>
/// <param name="LastKind">Kind of the last message; 0 before the first.</param>
public sealed record CheckpointOutput(
    InstanceId Destination, ulong Number, ulong Hash, MessageKind LastKind, ulong TrimmedNumber, ulong TrimmedHash,
    MessageKind TrimmedLastKind);
