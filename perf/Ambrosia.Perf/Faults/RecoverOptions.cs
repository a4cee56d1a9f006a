namespace Ambrosia.Perf;

/// <summary>How much a recovery measures.</summary>
/// <param name="Bytes">Of a message.</param>
/// <param name="Messages">That are replayed: no checkpoint holds them.</param>
/// <param name="Kills">Each of an idle and of a filled log.</param>
internal sealed record RecoverOptions(int Bytes, long Messages, int Kills);
