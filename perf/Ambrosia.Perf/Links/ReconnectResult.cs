namespace Ambrosia.Perf;

/// <summary>What <c>reconnect</c> measured, in microseconds from the moment before the message was asked for.</summary>
/// <param name="Uncut">With the link as it was.</param>
/// <param name="Cut">With the link cut at that moment.</param>
internal sealed record ReconnectResult(Latencies Uncut, Latencies Cut);
