using Ambrosia.Coordinator.LogFeed;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Records;

namespace Ambrosia.Coordinator.AppSessions;

/// <summary>
/// Keeps the timers that the running session's app waits for, and logs those that are due, of a primary whose app has executed all that was
/// durable (protocol P5.14). It goes by the clock of the log, as the times of the log's pages do: so what a page says of the time is never
/// before the due time of a record in it. The thread that reads the app sets timers, the pump that waits for them fires them.
/// </summary>
/// <param name="nowMicros">Tells the time of the log, of a primary.</param>
internal sealed class AppTimers(LogAppender log, Func<long> nowMicros, IPumps pumps)
{
    /// <summary>The log's clock may be a tenth faster than the one that the pump sleeps by.</summary>
    private static readonly TimeSpan s_sleepMax = TimeSpan.FromSeconds(1), s_untilRoom = TimeSpan.FromMilliseconds(5);

    private readonly PendingTimers _pending = new();

    /// <summary>A session begins with none; its app tells of them again.</summary>
    public void BeginSession() => _pending.Clear();

    public void Set(TimerSet timer)
    {
        if (_pending.Set(timer)) pumps.TimersChanged();
    }

    public void Drop(TimerDropped timer) => _pending.Drop(timer.Timer);

    /// <summary>The app has become primary: timers may fire now.</summary>
    public void Open() => pumps.TimersChanged();

    /// <summary>Appends what is due; returns for how long nothing else will be.</summary>
    public TimeSpan Fire()
    {
        TimeSpan next = FireDue();
        log.WakeCommitter(drained: true);
        return next;
    }

    private TimeSpan FireDue()
    {
        if (log.RefusesInputs) return Timeout.InfiniteTimeSpan;
        long now = nowMicros();
        while (_pending.TryTake(now, out TimerFiredRecord fired))
        {
            Crash.Hit("timer.beforeAppend");
            if (!log.TryAppend(fired, out _))
            {
                _pending.GiveBack(fired);
                return s_untilRoom;
            }
            Crash.Hit("timer.afterAppend");
        }
        if (_pending.FirstDue is not { } due) return Timeout.InfiniteTimeSpan;
        if (due - now >= s_sleepMax.TotalMicroseconds) return s_sleepMax;
        return TimeSpan.FromMilliseconds(Math.Max(1, (due - now + 999) / 1000));
    }
}
