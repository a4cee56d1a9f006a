namespace Ambrosia.Protocol;

/// <summary>A fork policy comes into force at the Policy record at this position.</summary>
public readonly record struct PolicyChange(Lsn Position, ForkPolicy Forks);
