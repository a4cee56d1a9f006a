using Ambrosia.Log.Instances;
using Ambrosia.Protocol;
using CRA.Catalog;

namespace Ambrosia.Coordinator.Primary;

/// <summary>
/// Whether a directory is where its instance lives, by what the catalog says of it: copies and backups are found before anything
/// is claimed. What no catalog knows is found by the peers (P6.3–P6.5). Pure.
/// </summary>
internal static class LogCopyCheck
{
    /// <param name="epoch">In force in this directory.</param>
    /// <param name="entry">What the catalog says of the instance; null: nothing.</param>
    /// <param name="place">What names this directory (<see cref="CatalogEntry.Place"/>); empty: nothing does.</param>
    /// <param name="isThere">True when the directory that the entry names holds a log of this instance.</param>
    /// <param name="answers">
    /// True when a primary of this instance answers at an address; asked only where the directory may be another than the entry's.
    /// </param>
    /// <returns>What is wrong and the way out; null: nothing.</returns>
    public static string? WhatIsWrong(
        InstanceIdentity identity, string directory, string place, Epoch epoch, CatalogEntry? entry, Func<string, bool> isThere,
        Func<ReplicaEntry, bool> answers)
    {
        if (entry is null) return null;
        string name = identity.Name;
        if (entry.LogPath != directory && isThere(entry.LogPath))
            return $"{directory} is a copy of the log of '{name}', or the one that was copied, or the same directory by another path: the catalog says that it lives in {entry.LogPath}, and it is there. " +
                "Give that path; or, if the instance was moved here, move the old directory away first.";
        if ((entry.LogPath != directory || entry.Place != place || place.Length == 0)
            && entry.Replicas.FirstOrDefault(static replica => replica.Role == ReplicaEntry.Primary) is { } primary && answers(primary))
            return $"a primary of '{name}' ({identity.Uuid}) answers at {primary.Address}, as the catalog says, with its log in {entry.LogPath} of the machine there, and {directory} is another directory: one of the two is a copy, and both must not run. " +
                "Stop that one, if this one is to go on with what it has; or leave this one alone.";
        if (entry.Epoch > epoch)
            return $"{directory} holds an older copy of the log of '{name}': it ends in epoch {epoch}, the catalog has seen epoch {entry.Epoch}. " +
                "A backup cannot be put back under peers that know more; put the newer log back, or begin a new instance under another name.";
        return null;
    }
}
