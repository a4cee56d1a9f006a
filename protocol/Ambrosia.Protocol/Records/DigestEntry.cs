namespace Ambrosia.Protocol;

/// <summary>
/// The app's outputs to one destination as of a position: how many numbered messages, and the channel hash after the last.
/// </summary>
public readonly record struct DigestEntry(InstanceId Destination, ulong Count, ulong Hash);
