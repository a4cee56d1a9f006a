using Ambrosia.Protocol;

namespace CRA.Catalog;

/// <summary>
/// The directory of instances: it maps names to addresses. Links are dialled by instance name only, and the catalog says where that name is
/// now. It also holds the secret by which links authenticate each other (protocol P7, P8). Any thread may call any member; all do blocking
/// I/O.
/// </summary>
public interface ICatalog
{
    /// <summary>Returns the entry of the highest epoch; null when the catalog has none.</summary>
    /// <exception cref="IOException">The store cannot be read.</exception>
    CatalogEntry? Find(InstanceId instance);

    /// <summary>
    /// Replaces the entries of the same or a lower epoch by this one, which is durable when <see cref="PublishResult.Published"/> is
    /// returned.
    /// </summary>
    /// <exception cref="ArgumentException">The entry breaks a limit of <see cref="CatalogLimits"/>.</exception>
    /// <exception cref="IOException">The store cannot be written.</exception>
    PublishResult Publish(CatalogEntry entry);

    /// <summary>Removes every entry of a name. <c>--create</c> does so over an instance that was lost.</summary>
    /// <exception cref="IOException">The store cannot be written.</exception>
    void Forget(InstanceId instance);

    /// <summary>Returns the entries of all instances, one for each, ordered by instance.</summary>
    /// <exception cref="IOException">The store cannot be read.</exception>
    IReadOnlyList<CatalogEntry> All();

    /// <summary>
    /// Returns the highest epoch in which the catalog has something of each instance. It reads no entry, so that one look tells cheaply
    /// who has become primary since the last.
    /// </summary>
    /// <exception cref="IOException">The store cannot be read.</exception>
    IReadOnlyDictionary<InstanceId, Epoch> Epochs();

    /// <summary>The secret of 32 bytes. It is made at the first use of an empty catalog and never changes afterwards.</summary>
    /// <exception cref="CatalogException">The secret is damaged, or others can read it.</exception>
    /// <exception cref="IOException">The store cannot be read or written.</exception>
    ReadOnlyMemory<byte> Secret { get; }

    /// <summary>Throws what <see cref="Secret"/> would throw, but makes nothing.</summary>
    /// <exception cref="CatalogException">The secret is damaged, others can read it, or the place is somebody else's.</exception>
    /// <exception cref="IOException">The store cannot be read.</exception>
    void CheckSecret();
}

/// <summary>The result tells a publisher whether its entry stands in the catalog, and if not, why.</summary>
public enum PublishResult
{
    /// <summary>The entry stands in the catalog now, or stood there already.</summary>
    Published,

    /// <summary>The catalog has a higher epoch of this instance: the publisher is no longer its primary. Nothing was written.</summary>
    Outdated,

    /// <summary>The name belongs to an instance with another UUID. Nothing was written.</summary>
    NameTaken,
}

/// <summary>
/// The catalog cannot be used as it is. The message says what is wrong, why, and how to mend it. At a start it means exit code 2.
/// </summary>
public sealed class CatalogException(string message) : Exception(message);
