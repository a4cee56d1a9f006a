using Ambrosia.Protocol;

namespace Ambrosia;

/// <summary>
/// Names of the peers by their id in this log (log-format L5.4). Dense from 1; 0 is the instance itself. One that was forgotten keeps its
/// id and has no name any more: nobody who comes later is it.
/// </summary>
internal sealed class Origins(InstanceId self)
{
    private readonly List<InstanceId> peers = [];

    /// <summary>What stands in the place of a peer that was forgotten.</summary>
    internal static InstanceId Forgotten { get; } = new("");

    internal IReadOnlyList<InstanceId> Peers => peers;

    internal InstanceId this[uint origin] => origin switch
    {
        0 => self,
        _ when origin <= (uint)peers.Count => peers[(int)origin - 1],
        _ => throw new ProtocolViolation("L5.4", $"run of origin {origin}, which no Peer record named"),
    };

    internal bool IsForgotten(uint origin) => this[origin] == Forgotten;

    /// <summary>Returns who it was.</summary>
    internal InstanceId Forget(uint origin)
    {
        InstanceId peer = this[origin];
        if (origin == 0 || peer == Forgotten) throw new ProtocolViolation("L5.14", $"origin {origin}, which is no peer, is forgotten");
        peers[(int)origin - 1] = Forgotten;
        return peer;
    }

    internal void Add(uint origin, InstanceId peer)
    {
        if (origin == (uint)peers.Count + 1) peers.Add(peer);
        else if (this[origin] != peer) throw new ProtocolViolation("L5.4", $"origin {origin} is {this[origin]} and cannot become {peer}");
    }
}
