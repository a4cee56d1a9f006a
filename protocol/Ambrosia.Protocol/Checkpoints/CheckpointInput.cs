namespace Ambrosia.Protocol.Checkpoints;

/// <summary>States how far the inputs of one origin have come (log-format L6.2); origin 0 is the instance itself.</summary>
/// <param name="Number">Number of the last input.</param>
/// <param name="Hash">Channel hash of the sender at that number.</param>
public sealed record CheckpointInput(uint Origin, ulong Number, ulong Hash);
