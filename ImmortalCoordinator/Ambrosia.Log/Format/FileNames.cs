using System.Globalization;
using Ambrosia.Protocol;

namespace Ambrosia.Log.Format;

/// <summary>
/// The names of the files in a replica set's directory (log-format L1.1). Each name is a record below, with a parser that returns null
/// for any other name and <c>ToString</c> for the way back. The names of segments and checkpoints have files of their own.
/// </summary>
internal static class FileNames
{
    /// <summary>Reads a decimal number without leading zeros, so that each number has exactly one spelling.</summary>
    public static bool TryParseNumber(ReadOnlySpan<char> text, out ulong value)
    {
        value = 0;
        if (text.Length == 0 || (text[0] == '0' && text.Length > 1)) return false;
        return ulong.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out value);
    }
}

/// <summary><c>epoch.&lt;uuid&gt;.&lt;n&gt;</c> is the name of the fence in epoch n (log-format L7.1).</summary>
internal readonly record struct EpochFileName(Guid Uuid, Epoch Epoch)
{
    public static EpochFileName? TryParse(string name)
    {
        string[] parts = name.Split('.');
        if (parts.Length != 3 || parts[0] != "epoch") return null;
        if (!Guid.TryParseExact(parts[1], "D", out Guid uuid) || parts[1] != uuid.ToString("D")) return null;
        return FileNames.TryParseNumber(parts[2], out ulong epoch) ? new EpochFileName(uuid, new Epoch(epoch)) : null;
    }

    public override string ToString() => $"epoch.{Uuid:D}.{Epoch}";
}

/// <summary><c>primary.&lt;n&gt;.&lt;replica&gt;</c> is the lock of the primary of epoch n (log-format L7.6).</summary>
internal readonly record struct PrimaryFileName(Epoch Epoch, string Replica)
{
    public static PrimaryFileName? TryParse(string name)
    {
        string[] parts = name.Split('.');
        if (parts.Length != 3 || parts[0] != "primary" || !Names.IsValid(parts[2])) return null;
        return FileNames.TryParseNumber(parts[1], out ulong epoch) ? new PrimaryFileName(new Epoch(epoch), parts[2]) : null;
    }

    public override string ToString() => $"primary.{Epoch}.{Replica}";
}

/// <summary><c>replica.&lt;name&gt;</c> is locked while the replica of that name runs (log-format L7.7).</summary>
internal readonly record struct ReplicaFileName(string Replica)
{
    public static ReplicaFileName? TryParse(string name)
    {
        string[] parts = name.Split('.');
        return parts is ["replica", var replica] && Names.IsValid(replica) ? new ReplicaFileName(replica) : null;
    }

    public override string ToString() => $"replica.{Replica}";
}

/// <summary>
/// <c>spare.&lt;epoch&gt;.&lt;k&gt;</c> is a file set aside to become a segment of the epoch that made it (log-format L1.1).
/// </summary>
internal readonly record struct SpareFileName(Epoch Epoch, ulong Number)
{
    public static SpareFileName? TryParse(string name)
    {
        string[] parts = name.Split('.');
        if (parts.Length != 3 || parts[0] != "spare") return null;
        if (!FileNames.TryParseNumber(parts[1], out ulong epoch) || !FileNames.TryParseNumber(parts[2], out ulong number)) return null;
        return new SpareFileName(new Epoch(epoch), number);
    }

    public override string ToString() => $"spare.{Epoch}.{Number}";
}

/// <summary>
/// <c>&lt;name&gt;.&lt;replica&gt;.&lt;epoch&gt;.tmp</c> is a file that gets its real name when it is whole (log-format L1.1).
/// </summary>
internal readonly record struct TemporaryFileName(string Name, string Replica, Epoch Epoch)
{
    private const string Extension = "tmp";

    public static TemporaryFileName? TryParse(string name)
    {
        string[] parts = name.Split('.');
        if (parts.Length < 4 || parts[^1] != Extension || !Names.IsValid(parts[^3])) return null;
        if (!FileNames.TryParseNumber(parts[^2], out ulong epoch)) return null;
        return new TemporaryFileName(string.Join('.', parts[..^3]), parts[^3], new Epoch(epoch));
    }

    public override string ToString() => $"{Name}.{Replica}.{Epoch}.{Extension}";
}
