namespace Ambrosia.Log.Fencing;

/// <summary>Says at which address a running replica takes callers' queries (log-format L7.7).</summary>
public sealed record ReplicaAddress(string Replica, string Address);
