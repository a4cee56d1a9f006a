using System.Collections.Concurrent;
using System.Runtime.CompilerServices;
using CRA.Catalog;
using CRA.Etcd;

namespace CRA.Places;

/// <summary>
/// Opens catalogs wherever they are. It knows directories and etcd; a store that needs a package is a library of its own, which a program
/// adds before it starts anything. Any thread may call it.
/// </summary>
public static class CatalogStores
{
    private static readonly ConcurrentDictionary<string, CatalogMaker> s_makers = new(StringComparer.Ordinal)
    {
        [CatalogPlace.DirectoryScheme] = static (place, access) =>
            new DirectoryCatalog(access.Files(place.Path), access.Random, access.Logger),
        [CatalogPlace.EtcdScheme] = OpenEtcd,
    };

    /// <summary>Makes a kind of store known to this process.</summary>
    public static void Add(string scheme, CatalogMaker maker) => s_makers[scheme] = maker;

    /// <summary>Opens the catalog at a place. It connects to nothing and makes nothing yet.</summary>
    /// <exception cref="CatalogException">This program does not have such a store, or the credentials will not do.</exception>
    public static ICatalog Open(CatalogPlace place, CatalogAccess access) =>
        s_makers.TryGetValue(place.Scheme, out CatalogMaker? maker) ? maker(place, access)
        : throw new CatalogException(
            $"This program cannot reach the catalog {place}: it has no store for '{place.Scheme}'. Use one that has it (docs/storage.md), or another place.");

    /// <summary>A method of its own keeps a program without etcd from loading anything of HTTP.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static StoreCatalog OpenEtcd(CatalogPlace place, CatalogAccess access) =>
        new(new EtcdStore(place, EtcdClient.Open(place, access.Credentials, access.Time)), access);
}
