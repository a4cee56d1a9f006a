using Ambrosia.Protocol.Records;

namespace Ambrosia.Protocol.Frames;

/// <summary>States one change of the fork policy, which comes into force with the Policy record at this position.</summary>
public readonly record struct PolicyChange(Lsn Position, ForkPolicy Forks);
