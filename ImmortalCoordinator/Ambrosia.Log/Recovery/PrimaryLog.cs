using Ambrosia.Log.Checkpoints;
using Ambrosia.Log.Commit;
using Ambrosia.Log.Reading;
using Ambrosia.Log.Segments;

namespace Ambrosia.Log.Recovery;

/// <summary>Holds the log of which this process is the primary.</summary>
/// <param name="Tail">How the log ended. A <see cref="ReadVerdict.TornTail"/> names the bytes that were dropped, and a caller logs
/// it.</param>
/// <param name="Checkpoints">Names of the checkpoints found, newest first; they are not verified yet.</param>
public sealed record PrimaryLog(LogWriter Writer, LogChain Chain, ReadVerdict Tail, IReadOnlyList<CheckpointFileName> Checkpoints);
