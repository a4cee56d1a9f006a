namespace Ambrosia.Log;

/// <summary>Who a directory belongs to; the content of its file <c>instance</c> (log-format L1.2).</summary>
/// <param name="CreatedMicros">µs since 1970.</param>
public sealed record InstanceIdentity(string Name, ushort Shard, Guid Uuid, long CreatedMicros);
