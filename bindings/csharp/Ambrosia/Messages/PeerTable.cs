using Ambrosia.Protocol;

namespace Ambrosia.Messages;

/// <summary>
/// Holds the names of the peers by their id in this log (log-format L5.4). Ids are dense from 1; 0 is the instance itself. A peer that was
/// forgotten keeps its id and has no name any more: nobody who comes later is it. Thread: the scheduler's.
/// </summary>
internal sealed class PeerTable(InstanceId self)
{
    private readonly List<InstanceId> _peers = [];

    /// <summary>The name that stands in the place of a peer that was forgotten.</summary>
    internal static InstanceId Forgotten { get; } = new("");

    /// <summary>The name of the instance itself.</summary>
    internal InstanceId Self => self;

    internal IReadOnlyList<InstanceId> Peers => _peers;

    internal InstanceId this[uint origin] => origin switch
    {
        0 => self,
        _ when origin <= (uint)_peers.Count => _peers[(int)origin - 1],
        _ => throw new ProtocolViolation("L5.4", $"run of origin {origin}, which no Peer record named"),
    };

    internal bool IsForgotten(uint origin) => this[origin] == Forgotten;

    /// <summary>Takes the name of a peer away, and returns it.</summary>
    internal InstanceId Forget(uint origin)
    {
        InstanceId peer = this[origin];
        if (origin == 0 || peer == Forgotten) throw new ProtocolViolation("L5.14", $"origin {origin}, which is no peer, is forgotten");
        _peers[(int)origin - 1] = Forgotten;
        return peer;
    }

    internal void Add(uint origin, InstanceId peer)
    {
        if (origin == (uint)_peers.Count + 1) _peers.Add(peer);
        else if (this[origin] != peer) throw new ProtocolViolation("L5.4", $"origin {origin} is {this[origin]} and cannot become {peer}");
    }
}
