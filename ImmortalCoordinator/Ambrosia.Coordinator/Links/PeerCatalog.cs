using Ambrosia.Protocol;
using CRA.Catalog;

namespace Ambrosia.Coordinator.Links;

/// <summary>Reads what the catalog says of a replica's peers. Whoever calls it may hang in the catalog. It keeps nothing.</summary>
internal static class PeerCatalog
{
    /// <summary>Gets the address at which the peer's primary is reached, or null with the reason.</summary>
    public static string? FindAddress(ICatalog catalog, InstanceId peer, out DialFailure? failure)
    {
        CatalogEntry? entry = catalog.Find(peer);
        string? address = entry?.Primary?.Address;
        failure = entry is null ? DialFailure.Unlisted : address is null ? DialFailure.NoAddress : null;
        return address;
    }

    /// <summary>
    /// One listing shows what the peers that are missed have claimed since the last; true: some peer is to be called now. That a catalog
    /// cannot be read is the dial's to tell.
    /// </summary>
    public static bool TakePublished(ICatalog catalog, LinkTable peers)
    {
        if (!peers.HasUnconnected) return false;
        try
        {
            peers.BeginListing();
            return peers.TakeListing(catalog.Epochs());
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            peers.MissListing();
            return false;
        }
    }
}
