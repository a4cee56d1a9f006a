using Ambrosia.Protocol;

namespace CRA;

/// <summary>
/// Names to addresses. Links are dialled by instance name only; the catalog says where the name is now, and it holds the secret
/// by which links authenticate each other (protocol P7, P8). Every member may be called from any thread and does blocking I/O.
/// </summary>
public interface ICatalog
{
    /// <summary>The entry of the highest epoch, or null when the catalog has none.</summary>
    /// <exception cref="IOException">The store cannot be read.</exception>
    CatalogEntry? Find(InstanceId instance);

    /// <summary>
    /// Puts an entry in the place of those with the same or a lower epoch; durable when it returns <see cref="PublishAnswer.Published"/>.
    /// </summary>
    /// <exception cref="ArgumentException">The entry breaks a limit of <see cref="CatalogLimits"/>.</exception>
    /// <exception cref="IOException">The store cannot be written.</exception>
    PublishAnswer Publish(CatalogEntry entry);

    /// <summary>Removes every entry of a name: what <c>--create</c> does over an instance that was lost.</summary>
    /// <exception cref="IOException">The store cannot be written.</exception>
    void Forget(InstanceId instance);

    /// <summary>All entries, one an instance, ordered by instance.</summary>
    /// <exception cref="IOException">The store cannot be read.</exception>
    IReadOnlyList<CatalogEntry> All();

    /// <summary>32 bytes; made at the first use of an empty catalog, the same for everybody ever after.</summary>
    /// <exception cref="CatalogException">The secret is damaged, or others can read it.</exception>
    /// <exception cref="IOException">The store cannot be read or written.</exception>
    ReadOnlyMemory<byte> Secret { get; }
}
