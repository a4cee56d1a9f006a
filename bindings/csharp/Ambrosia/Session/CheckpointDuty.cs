using Ambrosia.Protocol;

namespace Ambrosia;

/// <summary>
/// Which checkpoint this replica owes (protocol P5.8): that of the newest mark that asks it for one, until it is taken or void. It is taken
/// at the first record boundary behind the mark where nothing is suspended, at the latest where the bound of the mark, or of one that it
/// replaced, ends: a rule of the log alone, so every replica finds the same place.
/// </summary>
internal sealed class CheckpointDuty(Epoch epoch, string replica)
{
    /// <summary>A checkpoint that takes longer is reported, in µs of page time.</summary>
    private const long PatienceUs = 10_000_000;

    private Lsn mark;
    private long markTimeUs;
    private bool reported;

    /// <summary>From here on it is taken with whatever is suspended; null: never.</summary>
    private Lsn? latest;

    internal bool IsDue { get; private set; }

    internal Lsn Mark => mark;

    /// <param name="isPrimary">A primary is asked by its name only; a secondary by every mark, since all of them compare.</param>
    internal void Take(CheckpointMarkRecord record, Lsn lsn, long timeUs, bool isPrimary)
    {
        if (record.Epoch < epoch || (isPrimary && record.Replica != replica)) return;
        Lsn? bound = record.BoundBytes == 0 || record.BoundBytes > long.MaxValue - lsn.Value ? null
            : new Lsn(lsn.Value + record.BoundBytes);
        if (!IsDue || latest is null || bound < latest) latest = bound;
        IsDue = true;
        mark = lsn;
        markTimeUs = timeUs;
        reported = false;
    }

    /// <param name="boundary">End of the record that was executed last.</param>
    internal bool MustTake(Lsn boundary, bool isQuiet) => IsDue && (isQuiet || boundary >= latest);

    /// <summary>True once a mark: it has waited for too long.</summary>
    internal bool ShouldReport(long timeUs)
    {
        if (!IsDue || reported || timeUs - markTimeUs <= PatienceUs) return false;
        return reported = true;
    }

    internal void Done() => IsDue = false;
}
