using Ambrosia.Protocol;

namespace Ambrosia;

/// <summary>An instance that this session has declared to its coordinator (protocol P5.5). Indices live as long as the session.</summary>
internal sealed class Destination(uint index, InstanceId id)
{
    internal uint Index { get; } = index;

    internal InstanceId Id { get; } = id;

    /// <summary>A caller outside, whose answers need no declaration (protocol P10.6); zero: an instance.</summary>
    internal ClientSessionId Session { get; private init; }

    internal static Destination Of(ClientSessionId session) => new(0, default) { Session = session };

    public override string ToString() => Id.Name is null ? $"caller {Session}" : Id.ToString();
}
