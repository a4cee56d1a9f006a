using Ambrosia.Protocol;

namespace Ambrosia.Coordinator;

/// <summary>
/// Logs the timers that are due, of a primary whose app has executed all that was durable (protocol P5.14). By the wall clock, which may be
/// set: what a record says of the time is at least its due time in any case. The thread of the pump that waits for timers.
/// </summary>
internal sealed class TimerDuty(PendingTimers timers, LogAppender log, TimeProvider time)
{
    /// <summary>A clock that is set forward makes timers due while their pump sleeps.</summary>
    private static readonly TimeSpan sleepMax = TimeSpan.FromSeconds(1), untilRoom = TimeSpan.FromMilliseconds(5);

    /// <summary>Appends what is due; returns for how long nothing else will be.</summary>
    public TimeSpan Fire()
    {
        long now = NowUs();
        while (timers.TryTake(now, out TimerFiredRecord fired))
        {
            Crash.Hit("timer.beforeAppend");
            if (!log.TryAppend(RecordKind.TimerFired, RecordKinds.Encode(fired), out _))
            {
                timers.GiveBack(fired);
                return untilRoom;
            }
            Crash.Hit("timer.afterAppend");
        }
        if (timers.FirstDue is not { } due) return Timeout.InfiniteTimeSpan;
        if (due - now >= sleepMax.TotalMicroseconds) return sleepMax;
        return TimeSpan.FromMilliseconds(Math.Max(1, (due - now + 999) / 1000));
    }

    private long NowUs() => (time.GetUtcNow() - DateTimeOffset.UnixEpoch).Ticks / TimeSpan.TicksPerMicrosecond;
}
