namespace Ambrosia.Protocol.Records;

/// <summary>States that the outputs to a peer up to this number are durable there.</summary>
public readonly record struct TrimPosition(uint Origin, ulong Number);
