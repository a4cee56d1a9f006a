using Ambrosia.Protocol;

namespace Ambrosia.Log;

/// <summary><c>primary.&lt;n&gt;.&lt;replica&gt;</c>, the lock of the primary of epoch n (log-format L7.6).</summary>
internal readonly record struct PrimaryFileName(Epoch Epoch, string Replica)
{
    public static PrimaryFileName? TryParse(string name)
    {
        string[] parts = name.Split('.');
        if (parts.Length != 3 || parts[0] != "primary" || !Names.IsValid(parts[2])) return null;
        return FileNumber.TryParse(parts[1], out ulong epoch) ? new PrimaryFileName(new Epoch(epoch), parts[2]) : null;
    }

    public override string ToString() => $"primary.{Epoch}.{Replica}";
}
