namespace Ambrosia.Log.Instances;

/// <summary>Says which instance a directory belongs to. It is the content of the file <c>instance</c> (log-format L1.2).</summary>
/// <param name="CreatedMicros">µs since 1970.</param>
public sealed record InstanceIdentity(string Name, ushort Shard, Guid Uuid, long CreatedMicros);
