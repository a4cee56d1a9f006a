using Ambrosia.Protocol;

namespace Ambrosia;

/// <summary>An instance that this session has declared to its coordinator (protocol P5.5). Indices live as long as the session.</summary>
internal sealed class Destination(uint index, InstanceId id)
{
    internal uint Index { get; } = index;

    internal InstanceId Id { get; } = id;

    public override string ToString() => Id.ToString();
}
