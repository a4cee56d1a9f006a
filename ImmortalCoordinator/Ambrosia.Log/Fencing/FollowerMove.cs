using Ambrosia.Protocol;

namespace Ambrosia.Log.Fencing;

/// <summary>States that a replica that follows moves, and where it stands (log-format L7.7).</summary>
/// <param name="Count">It grows as long as the replica moves; 0: it has not moved yet, or does not say so.</param>
/// <param name="Executed">Its app has executed the log up to here; zero: it could not go on now.</param>
public readonly record struct FollowerMove(ulong Count, Lsn Executed);
