using Ambrosia.Protocol;

namespace Ambrosia;

/// <summary>Names of the peers by their id in this log (log-format L5.4). Dense from 1; 0 is the instance itself.</summary>
internal sealed class Origins(InstanceId self)
{
    private readonly List<InstanceId> peers = [];

    internal IReadOnlyList<InstanceId> Peers => peers;

    internal InstanceId this[uint origin] => origin switch
    {
        0 => self,
        _ when origin <= (uint)peers.Count => peers[(int)origin - 1],
        _ => throw new ProtocolViolation("L5.4", $"run of origin {origin}, which no Peer record named"),
    };

    internal void Add(uint origin, InstanceId peer)
    {
        if (origin == (uint)peers.Count + 1) peers.Add(peer);
        else if (this[origin] != peer) throw new ProtocolViolation("L5.4", $"origin {origin} is {this[origin]} and cannot become {peer}");
    }
}
