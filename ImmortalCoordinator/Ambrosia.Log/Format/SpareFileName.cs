using Ambrosia.Protocol;

namespace Ambrosia.Log;

/// <summary>
/// <c>spare.&lt;epoch&gt;.&lt;k&gt;</c>: a file set aside to become a segment of the epoch that made it (log-format L1.1).
/// </summary>
internal readonly record struct SpareFileName(Epoch Epoch, ulong Number)
{
    public static SpareFileName? TryParse(string name)
    {
        string[] parts = name.Split('.');
        if (parts.Length != 3 || parts[0] != "spare") return null;
        if (!FileNumber.TryParse(parts[1], out ulong epoch) || !FileNumber.TryParse(parts[2], out ulong number)) return null;
        return new SpareFileName(new Epoch(epoch), number);
    }

    public override string ToString() => $"spare.{Epoch}.{Number}";
}
