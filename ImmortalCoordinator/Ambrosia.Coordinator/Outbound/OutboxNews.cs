using Ambrosia.Protocol;

namespace Ambrosia.Coordinator;

/// <summary>How one outbox is filled, for the operator.</summary>
/// <param name="Known">Number of the last call made.</param>
/// <param name="Trimmed">Number up to which calls are durable at the peer.</param>
/// <param name="KeptBytes">Of runs that wait to be trimmed, in memory or spilled.</param>
internal readonly record struct OutboxNews(
    InstanceId Destination, ulong Known, ulong Trimmed, ulong Impulses, ulong ImpulsesDurable, long KeptBytes, bool HasUnsent);
