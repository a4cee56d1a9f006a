using Ambrosia.Protocol;

namespace Ambrosia.Log;

/// <summary>
/// <c>log.&lt;segment&gt;.&lt;epoch&gt;</c> (log-format L1.1). Ordered as the chain's head is chosen: by epoch, then number.
/// </summary>
public readonly record struct SegmentFileName(ulong Number, Epoch Epoch) : IComparable<SegmentFileName>
{
    public int CompareTo(SegmentFileName other)
    {
        int byEpoch = Epoch.CompareTo(other.Epoch);
        return byEpoch != 0 ? byEpoch : Number.CompareTo(other.Number);
    }

    public static SegmentFileName? TryParse(string name)
    {
        string[] parts = name.Split('.');
        if (parts.Length != 3 || parts[0] != "log") return null;
        if (!FileNumber.TryParse(parts[1], out ulong number) || number == 0) return null;
        if (!FileNumber.TryParse(parts[2], out ulong epoch) || epoch == 0) return null;
        return new SegmentFileName(number, new Epoch(epoch));
    }

    public override string ToString() => $"log.{Number}.{Epoch.Value}";
}
