using Ambrosia.Log.Format;
using Ambrosia.Protocol;

namespace Ambrosia.Log.Checkpoints;

/// <summary>
/// <c>ckpt.&lt;lsn&gt;.&lt;epoch&gt;.&lt;replica&gt;</c> is the name of a checkpoint (log-format L6). Names are ordered by Lsn, then epoch,
/// then replica.
/// </summary>
/// <param name="Lsn">The checkpoint contains the effects of all records below it.</param>
public sealed record CheckpointFileName(Lsn Lsn, Epoch Epoch, string Replica) : IComparable<CheckpointFileName>
{
    public int CompareTo(CheckpointFileName? other)
    {
        if (other is null) return 1;
        int byLsn = Lsn.CompareTo(other.Lsn);
        if (byLsn != 0) return byLsn;
        int byEpoch = Epoch.CompareTo(other.Epoch);
        return byEpoch != 0 ? byEpoch : string.CompareOrdinal(Replica, other.Replica);
    }

    /// <summary>Reads a name; returns null when <paramref name="name"/> is not the name of a checkpoint.</summary>
    public static CheckpointFileName? Parse(string name)
    {
        string[] parts = name.Split('.');
        if (parts.Length != 4 || parts[0] != "ckpt" || !Names.IsValid(parts[3])) return null;
        if (!FileNames.TryParseNumber(parts[1], out ulong lsn) || lsn >= Lsn.Limit || !FileNames.TryParseNumber(parts[2], out ulong epoch))
            return null;
        return new CheckpointFileName(new Lsn(lsn), new Epoch(epoch), parts[3]);
    }

    public override string ToString() => $"ckpt.{Lsn}.{Epoch}.{Replica}";
}
