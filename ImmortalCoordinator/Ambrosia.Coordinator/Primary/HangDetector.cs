using Ambrosia.Protocol;

namespace Ambrosia.Coordinator.Primary;

/// <summary>
/// Whether a primary that still holds its lock hangs: its heartbeat has stood still for the limit, on the observer's monotonic clock.
/// Pure: who looks brings beat and time. A wrong answer costs a take-over, never safety (F1, F2).
/// </summary>
internal sealed class HangDetector(TimeSpan limit)
{
    /// <summary>A primary that has not beaten yet is in its take-over, which reads the log's tail.</summary>
    private const int SilentAtFirst = 8;

    private (Epoch Epoch, ulong Beat)? _last;
    private TimeSpan _since;

    /// <param name="beat">The counter in the lock file of the primary of <paramref name="epoch"/>.</param>
    /// <param name="now">Monotonic.</param>
    public bool Hangs(Epoch epoch, ulong beat, TimeSpan now)
    {
        if (_last != (epoch, beat))
        {
            _last = (epoch, beat);
            _since = now;
        }
        return now - _since >= (beat == 0 ? limit * SilentAtFirst : limit);
    }

    /// <summary>Nothing was seen for a while, by no fault of the primary's: the count begins again.</summary>
    public void Forget() => _last = null;
}
