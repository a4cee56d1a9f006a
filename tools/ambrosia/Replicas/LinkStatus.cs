namespace Ambrosia.Tools;

/// <summary>A primary's link to one peer.</summary>
/// <param name="State"><c>open</c>, <c>opening</c>, <c>dialling</c>, <c>waiting</c>, or <c>stopped</c> until an operator acts.</param>
/// <param name="Why">Why its last connection ended; null: none has.</param>
internal sealed record LinkStatus(string Peer, string State, string? Why);
