using Ambrosia.Protocol;

namespace Ambrosia.Log.Format;

/// <summary>
/// <c>log.&lt;segment&gt;.&lt;epoch&gt;</c> is the name of a segment (log-format L1.1). The order is that in which the chain's head is
/// chosen: by epoch, then by number.
/// </summary>
internal readonly record struct SegmentFileName(ulong Number, Epoch Epoch) : IComparable<SegmentFileName>
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
        if (!FileNames.TryParseNumber(parts[1], out ulong number) || number == 0) return null;
        if (!FileNames.TryParseNumber(parts[2], out ulong epoch) || epoch == 0) return null;
        return new SegmentFileName(number, new Epoch(epoch));
    }

    public override string ToString() => $"log.{Number}.{Epoch.Value}";
}
