using Ambrosia.Protocol;

namespace Ambrosia.Coordinator;

/// <summary>How the connection to one peer is, for the operator.</summary>
/// <param name="State">open · opening (a hello is under way) · dialling · waiting (to dial again) · stopped (until
/// the operator acts).</param>
/// <param name="Remote">The other end of the connection in use.</param>
/// <param name="LastEnd">Why the last connection ended; null since one was opened.</param>
internal readonly record struct LinkNews(InstanceId Peer, string State, string? Remote, string? LastEnd);
