namespace Ambrosia.Log;

/// <summary>Where a replica that runs takes callers' queries (log-format L7.7).</summary>
public sealed record ReplicaAddress(string Replica, string Address);
