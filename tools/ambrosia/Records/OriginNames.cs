using Ambrosia.Log;
using Ambrosia.Protocol;

namespace Ambrosia.Tools;

/// <summary>
/// Who the origin ids of a log are. An id never changes its meaning, so a later checkpoint's list serves earlier records too; Peer records
/// met on the way add to it.
/// </summary>
internal sealed class OriginNames
{
    private readonly Dictionary<uint, string> _names = [];

    public OriginNames(InstanceIdentity identity) => _names[0] = new InstanceId(identity.Name, identity.Shard).ToString();

    public string this[uint origin] => _names.TryGetValue(origin, out string? name) ? name : $"origin {origin}";

    public void Add(PeerRecord peer) => _names[peer.Origin] = peer.Peer.ToString();

    public void Add(CoordinatorPart part)
    {
        foreach (CheckpointPeer peer in part.Peers) _names[peer.Origin] = peer.Peer.ToString();
    }
}
