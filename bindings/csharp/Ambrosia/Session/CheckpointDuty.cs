using Ambrosia.Protocol;

namespace Ambrosia;

/// <summary>Which checkpoint this replica owes (protocol P5.8): the newest mark that names it, until it is taken or void.</summary>
internal sealed class CheckpointDuty(Epoch epoch, string replica)
{
    /// <summary>A checkpoint that takes longer is reported, in µs of page time.</summary>
    private const long PatienceUs = 10_000_000;

    private Lsn mark;
    private long markTimeUs;
    private bool reported;

    internal bool IsDue { get; private set; }

    internal Lsn Mark => mark;

    internal void Take(CheckpointMarkRecord record, Lsn lsn, long timeUs)
    {
        if (record.Epoch < epoch || record.Replica != replica) return; // a higher one: this replica became primary during the session
        IsDue = true;
        mark = lsn;
        markTimeUs = timeUs;
        reported = false;
    }

    /// <summary>True once a mark: it has waited for too long.</summary>
    internal bool ShouldReport(long timeUs)
    {
        if (!IsDue || reported || timeUs - markTimeUs <= PatienceUs) return false;
        return reported = true;
    }

    internal void Done() => IsDue = false;
}
