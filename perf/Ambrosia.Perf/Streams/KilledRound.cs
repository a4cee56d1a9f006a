namespace Ambrosia.Perf;

/// <summary>A round that lost processes in its middle and ended with the same count, bytes and order.</summary>
/// <param name="SecondsAfterKill">From the kill to the last message.</param>
internal sealed record KilledRound(KillTarget Target, long Messages, int Bytes, double SecondsAfterKill);
