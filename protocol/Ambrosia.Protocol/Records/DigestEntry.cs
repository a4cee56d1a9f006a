namespace Ambrosia.Protocol.Records;

/// <summary>
/// States the app's outputs to one destination as of a position: how many numbered messages there are, and the channel hash after the
/// last one.
/// </summary>
public readonly record struct DigestEntry(InstanceId Destination, ulong Count, ulong Hash);
