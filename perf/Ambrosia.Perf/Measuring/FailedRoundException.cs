namespace Ambrosia.Perf;

/// <summary>A round did not end, or what arrived was not what was sent: its figures mean nothing.</summary>
internal sealed class FailedRoundException(string message) : Exception(message);
