using Ambrosia.Protocol;

namespace Ambrosia.Log;

/// <summary><c>epoch.&lt;uuid&gt;.&lt;n&gt;</c>, the fence (log-format L7.1).</summary>
internal readonly record struct EpochFileName(Guid Uuid, Epoch Epoch)
{
    public static EpochFileName? TryParse(string name)
    {
        string[] parts = name.Split('.');
        if (parts.Length != 3 || parts[0] != "epoch") return null;
        if (!Guid.TryParseExact(parts[1], "D", out Guid uuid) || parts[1] != uuid.ToString("D")) return null;
        return FileNumber.TryParse(parts[2], out ulong epoch) ? new EpochFileName(uuid, new Epoch(epoch)) : null;
    }

    public override string ToString() => $"epoch.{Uuid:D}.{Epoch}";
}
