using Ambrosia.Log.Fencing;
using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Log.Instances;
using Ambrosia.Protocol;
using CRA.Authentication;
using CRA.Catalog;
using CRA.Links;

namespace Ambrosia.Coordinator.Hosting;

/// <summary>
/// Says whether an instance that the catalog has still lives. It blocks for some seconds at most; the starting thread uses it.
/// </summary>
internal static class LivingInstance
{
    /// <summary>Returns what shows that it lives; null: nothing does.</summary>
    public static string? Find(IFileSystem files, CatalogEntry entry, LinkSettings security)
    {
        if (TryListRunning(files, entry) is { } running)
            return running is [var replica, ..] ? $"its replica '{replica}' runs on {entry.LogPath}" : null;
        foreach (ReplicaEntry replica in entry.Replicas)
            if (Answers(entry, replica, security)) return $"its replica '{replica.Name}' answers at {replica.Address}";
        return null;
    }

    /// <summary>
    /// Returns the replicas that hold their names; null: its log is not where the catalog says, or cannot be read from here.
    /// </summary>
    private static IReadOnlyList<string>? TryListRunning(IFileSystem files, CatalogEntry entry)
    {
        try
        {
            bool isThere = InstanceDirectory.TryRead(files, entry.LogPath)?.Uuid == entry.Uuid;
            return isThere ? ReplicaLock.ListRunning(files, entry.LogPath) : null;
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException or LogDamage)
        {
            return null;
        }
    }

    /// <summary>Dials a replica of an entry. Returns null where no process with the catalog's secret and its name answers.</summary>
    /// <exception cref="OperationCanceledException">The process is asked to end.</exception>
    public static LinkConnection? TryDial(CatalogEntry entry, ReplicaEntry replica, LinkSettings security, CancellationToken stop)
    {
        try
        {
            return LinkDialler.Dial(replica.Address, security, stop, entry.Instance.Name);
        }
        catch (Exception e) when (e is LinkUnreachableException or LinkAddressException or LinkCertificateException or ProtocolViolation)
        {
            return null;
        }
    }

    private static bool Answers(CatalogEntry entry, ReplicaEntry replica, LinkSettings security)
    {
        using LinkConnection? connection = TryDial(entry, replica, security, CancellationToken.None);
        return connection is not null;
    }
}
