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
    /// <param name="isThere">True when the directory that the entry names holds a log of this instance.</param>
    /// <returns>What is wrong and the way out; null: nothing.</returns>
    public static string? WhatIsWrong(
        InstanceIdentity identity, string directory, Epoch epoch, CatalogEntry? entry, Func<string, bool> isThere)
    {
        if (entry is null) return null;
        string name = identity.Name;
        if (entry.LogPath != directory && isThere(entry.LogPath))
            return $"{directory} is a copy of the log of '{name}', or the same directory by another path: the catalog says that it lives in {entry.LogPath}, and it is there. " +
                "Give that path; or, if the instance was moved here, move the old directory away first.";
        if (entry.Epoch > epoch)
            return $"{directory} holds an older copy of the log of '{name}': it ends in epoch {epoch}, the catalog has seen epoch {entry.Epoch}. " +
                "A backup cannot be put back under peers that know more; put the newer log back, or begin a new instance under another name.";
        return null;
    }
}
