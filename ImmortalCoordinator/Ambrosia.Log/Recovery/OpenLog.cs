namespace Ambrosia.Log;

/// <summary>A log of which this process is the primary.</summary>
/// <param name="Tail">How the log ended; a <see cref="ReadVerdict.Cut"/> names the bytes that were dropped and is
/// worth a loud line.</param>
/// <param name="Checkpoints">Names found, newest first; not verified yet.</param>
public sealed record OpenLog(LogWriter Writer, LogChain Chain, ReadVerdict Tail, IReadOnlyList<CheckpointFileName> Checkpoints);
