namespace Ambrosia.Protocol;

/// <summary>Where the inputs of one origin stand (log-format L6.2); origin 0 is the instance itself.</summary>
/// <param name="Number">Number of the last input.</param>
/// <param name="Hash">The sender's channel hash there.</param>
public sealed record CheckpointInput(uint Origin, ulong Number, ulong Hash);
