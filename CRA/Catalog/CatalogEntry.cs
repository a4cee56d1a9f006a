using Ambrosia.Protocol;

namespace CRA.Catalog;

/// <summary>
/// An entry holds all that the catalog knows of one instance (protocol P8.1). Entries are equal when all their values are, replica by
/// replica.
/// </summary>
/// <param name="Uuid">UUID that was made at the instance's creation; another one under the same name is another instance.</param>
/// <param name="LogPath">Directory of the instance's log.</param>
/// <param name="Epoch">Epoch of the primary that published the entry.</param>
public sealed record CatalogEntry(InstanceId Instance, Guid Uuid, string LogPath, Epoch Epoch, IReadOnlyList<ReplicaEntry> Replicas)
{
    public bool Equals(CatalogEntry? other) =>
        other is not null && Instance == other.Instance && Uuid == other.Uuid && LogPath == other.LogPath && Epoch == other.Epoch
        && Replicas.SequenceEqual(other.Replicas);

    public override int GetHashCode() => HashCode.Combine(Instance, Uuid, Epoch, Replicas.Count);
}
