using Ambrosia.Failures;
using Ambrosia.Outbound;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Records;
using Ambrosia.Replay;

namespace Ambrosia.Timers;

/// <summary>
/// Holds the immortal's timers by number, and tells the coordinator of them (protocol P5.14). Thread: the scheduler's. Invariant: the
/// coordinator has been told exactly the armed ones; every number is below Next.
/// </summary>
internal sealed class OutstandingTimers(
    OutboundBuffer outbound, ReplayContext context, Func<object> owner, Action<string, Exception> handlerFailed)
{
    /// <summary>The limit of timers that may wait at a time (P5.14).</summary>
    internal const int WaitingMax = 1 << 20;

    private static readonly TimeSpan s_periodMin = TimeSpan.FromMilliseconds(1);

    private readonly SortedDictionary<ulong, WaitingTimer> _byNumber = [];

    /// <summary>The number of the next timer, from 1.</summary>
    internal ulong Next { get; private set; } = 1;

    internal int Count => _byNumber.Count;

    /// <summary>The timers in order of their numbers.</summary>
    internal IReadOnlyCollection<WaitingTimer> All => _byNumber.Values;

    /// <summary>The number of records that had no effect: of timers that were cancelled, or had fired already.</summary>
    internal long Ignored { get; private set; }

    /// <summary>The immortal whose methods periodic timers call.</summary>
    internal object Owner => owner();

    internal ReplayContext Context => context;

    internal DelayTimer Delay(TimeSpan time)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(time, TimeSpan.Zero);
        return Add(new DelayTimer(NextNumber(), DueIn(time)));
    }

    internal Recurrence Every(TimeSpan period, Delegate handler)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(period, s_periodMin);
        return Add(Recurrence.Of(this, NextNumber(), DueIn(period), period.Ticks / TimeSpan.TicksPerMicrosecond, handler));
    }

    /// <summary>Executes a TimerFired record, inside the scheduler.</summary>
    /// <exception cref="Diverged">L5.11.</exception>
    internal void Fire(TimerFiredRecord record)
    {
        if (record.Timer == 0 || record.Timer >= Next)
            throw new Diverged($"the log says that timer {record.Timer} fired; this execution has set {Next - 1} timers so far (L5.11)");
        if (!_byNumber.TryGetValue(record.Timer, out WaitingTimer? timer) || !timer.IsArmed || timer.DueUs != record.DueUs)
        {
            Ignored++;
            return;
        }
        outbound.Write(new TimerDropped(timer.Number));
        if (timer.Fire(this)) _byNumber.Remove(timer.Number);
    }

    /// <summary>Says that a timer of the table waits (again).</summary>
    internal void Armed(WaitingTimer timer) => outbound.Write(new TimerSet(timer.Number, timer.DueUs));

    /// <summary>Ends a timer for which nobody waits any more. One that is not in the table is not affected.</summary>
    internal void Cancel(WaitingTimer timer)
    {
        if (!_byNumber.Remove(timer.Number)) return;
        if (timer.IsArmed) outbound.Write(new TimerDropped(timer.Number));
        timer.Disarm();
    }

    /// <summary>Takes the timers of an image. The coordinator knows of none then, so it is told of them.</summary>
    internal void Restore(ulong next, IEnumerable<WaitingTimer> timers)
    {
        Next = next;
        foreach (WaitingTimer timer in timers)
        {
            if (timer.Number == 0 || timer.Number >= next)
                throw new InvalidDataException($"The image holds timer {timer.Number} where {next} is next.");
            _byNumber.Add(timer.Number, timer);
            if (timer is Recurrence recurrence) recurrence.Attach(this);
            if (timer.IsArmed) Armed(timer);
        }
    }

    /// <summary>Reports a failure of a periodic timer's handler, which no message called.</summary>
    internal void HandlerFailed(string handler, Exception failure) => handlerFailed(handler, failure);

    private ulong NextNumber()
    {
        context.CheckEffect("sets a timer");
        if (_byNumber.Count == WaitingMax) throw new LimitReachedException(WaitingMax, "timers");
        return Next;
    }

    private long DueIn(TimeSpan time) => context.NowUs + time.Ticks / TimeSpan.TicksPerMicrosecond;

    private T Add<T>(T timer)
        where T : WaitingTimer
    {
        _byNumber.Add(timer.Number, timer);
        Next++;
        Armed(timer);
        return timer;
    }
}

/// <summary>An immortal, as timers know it: by the table that its timers stand in.</summary>
internal interface ITimerOwner
{
    OutstandingTimers Timers { get; }
}
