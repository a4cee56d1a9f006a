using Ambrosia.Protocol;

namespace CRA.Catalog;

/// <summary>
/// The limits on the size of a catalog entry. An entry from outside that breaks a limit is ignored as foreign; one of our own is
/// refused when it is published.
/// </summary>
public static class CatalogLimits
{
    public const int ReplicasMax = 64;
    public const int AddressCharsMax = 255;
    public const int RoleCharsMax = 32;
    public const int LogPathCharsMax = 4096;
    public const int PlaceCharsMax = 128;

    /// <summary>An encoded entry has at most this many bytes; all other limits together stay below it, JSON's escapes included.</summary>
    public const int EntryBytesMax = 256 * 1024;

    /// <summary>Returns the first rule that the entry breaks; null if it breaks none.</summary>
    public static string? WhatIsWrong(CatalogEntry entry)
    {
        if (!Names.IsValid(entry.Instance.Name)) return "the instance name is malformed (P1.5)";
        if (entry.Uuid == Guid.Empty) return "the UUID is empty";
        if (entry.Epoch.Value == 0) return "the epoch is 0";
        if (!IsPlainText(entry.LogPath, LogPathCharsMax)) return "the log path is empty, too long or has control characters";
        if (entry.Place.Length > 0 && !IsPlainText(entry.Place, PlaceCharsMax)) return "the place is too long or has control characters";
        if (entry.Replicas.Count > ReplicasMax) return $"it has {entry.Replicas.Count} replicas where at most {ReplicasMax} are allowed";
        var names = new HashSet<string>(StringComparer.Ordinal);
        foreach (ReplicaEntry replica in entry.Replicas)
        {
            if (WhatIsWrong(replica) is { } wrong) return wrong;
            if (!names.Add(replica.Name)) return $"replica '{replica.Name}' stands in it twice";
        }
        return null;
    }

    private static string? WhatIsWrong(ReplicaEntry replica)
    {
        if (!Names.IsValid(replica.Name)) return "a replica name is malformed (P1.5)";
        if (!IsPlainText(replica.Address, AddressCharsMax))
            return $"the address of replica '{replica.Name}' is empty, too long or has control characters";
        return IsPlainText(replica.Role, RoleCharsMax) ? null
            : $"the role of replica '{replica.Name}' is empty, too long or has control characters";
    }

    // These texts reach terminals and log lines, so control characters are refused.
    private static bool IsPlainText(string text, int charsMax) => text.Length > 0 && text.Length <= charsMax && !text.Any(char.IsControl);
}
