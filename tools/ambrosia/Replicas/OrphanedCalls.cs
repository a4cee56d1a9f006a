namespace Ambrosia.Tools;

/// <summary>Calls that are kept for a peer to which no link is open.</summary>
internal sealed record OrphanedCalls(string To, ulong Calls);
