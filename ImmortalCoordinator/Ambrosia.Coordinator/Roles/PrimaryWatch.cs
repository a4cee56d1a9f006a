using Ambrosia.Protocol;

namespace Ambrosia.Coordinator;

/// <summary>
/// Whether a primary that still holds its lock hangs: its heartbeat has stood still for the limit, on the observer's monotonic clock.
/// Pure: who looks brings beat and time. A wrong answer costs a take-over, never safety (F1, F2).
/// </summary>
internal sealed class PrimaryWatch(TimeSpan limit)
{
    /// <summary>A primary that has not beaten yet is in its take-over, which reads the log's tail.</summary>
    private const int SilentAtFirst = 8;

    private (Epoch Epoch, ulong Beat)? last;
    private TimeSpan since;

    /// <param name="beat">The counter in the lock file of the primary of <paramref name="epoch"/>.</param>
    /// <param name="now">Monotonic.</param>
    public bool Hangs(Epoch epoch, ulong beat, TimeSpan now)
    {
        if (last != (epoch, beat))
        {
            last = (epoch, beat);
            since = now;
        }
        return now - since >= (beat == 0 ? limit * SilentAtFirst : limit);
    }

    /// <summary>Nothing was seen for a while, by no fault of the primary's: the count begins again.</summary>
    public void Forget() => last = null;
}
