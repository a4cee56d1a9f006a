using Ambrosia.Protocol;
using CRA.Catalog;

namespace Ambrosia.Coordinator.Links;

/// <summary>Reads what the catalog says of a replica's peers. Whoever calls it may hang in the catalog. It keeps nothing.</summary>
internal static class PeerCatalog
{
    /// <summary>The address at which the peer's primary is reached; null: the catalog names none.</summary>
    public static string? FindAddress(ICatalog catalog, InstanceId peer) =>
        catalog.Find(peer) is { } entry ? entry.Replicas.FirstOrDefault(r => r.Role == "primary" && r.Epoch == entry.Epoch)?.Address : null;

    /// <summary>
    /// One listing shows what the peers that are missed have claimed since the last; true: some peer is to be called now. That a catalog
    /// cannot be read is the dial's to tell.
    /// </summary>
    public static bool TakePublished(ICatalog catalog, LinkTable peers)
    {
        if (!peers.HasUnconnected) return false;
        bool isAny = false;
        try
        {
            foreach ((InstanceId peer, Epoch epoch) in catalog.Epochs()) isAny |= peers.Published(peer, epoch);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            return false;
        }
        return isAny;
    }
}
