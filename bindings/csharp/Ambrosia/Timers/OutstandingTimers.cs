// The immortal's timers by number, and what the coordinator is told of them (protocol P5.14). Thread: the scheduler's.
// Invariant: the coordinator has been told exactly the armed ones; every number is below Next.
using Ambrosia.Protocol;

namespace Ambrosia;

internal sealed class OutstandingTimers(ImmortalRuntime runtime)
{
    /// <summary>P5.14.</summary>
    internal const int WaitingMax = 1 << 20;

    private static readonly TimeSpan s_periodMin = TimeSpan.FromMilliseconds(1);

    private readonly SortedDictionary<ulong, WaitingTimer> byNumber = [];

    /// <summary>Number of the next timer, from 1.</summary>
    internal ulong Next { get; private set; } = 1;

    internal int Count => byNumber.Count;

    /// <summary>In order of their numbers.</summary>
    internal IReadOnlyCollection<WaitingTimer> All => byNumber.Values;

    /// <summary>Records that had no effect: of timers that were cancelled, or had fired already.</summary>
    internal long Ignored { get; private set; }

    internal DelayTimer Delay(TimeSpan time)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(time, TimeSpan.Zero);
        return Add(new DelayTimer(NextNumber(), DueIn(time)));
    }

    internal Recurrence Every(TimeSpan period, Delegate handler)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(period, s_periodMin);
        return Add(Recurrence.Of(runtime, NextNumber(), DueIn(period), period.Ticks / TimeSpan.TicksPerMicrosecond, handler));
    }

    /// <summary>A TimerFired record, inside the scheduler.</summary>
    /// <exception cref="Diverged">L5.11.</exception>
    internal void Fire(TimerFiredRecord record)
    {
        if (record.Timer == 0 || record.Timer >= Next)
            throw new Diverged($"the log says that timer {record.Timer} fired; this execution has set {Next - 1} timers so far (L5.11)");
        if (!byNumber.TryGetValue(record.Timer, out WaitingTimer? timer) || !timer.IsArmed || timer.DueUs != record.DueUs)
        {
            Ignored++;
            return;
        }
        runtime.Outbound.Write(new TimerDropped(timer.Number));
        if (timer.Fire(runtime)) byNumber.Remove(timer.Number);
    }

    /// <summary>A timer of the table waits (again).</summary>
    internal void Armed(WaitingTimer timer) => runtime.Outbound.Write(new TimerSet(timer.Number, timer.DueUs));

    /// <summary>Nobody waits for it any more; of one that is not in the table it has no effect.</summary>
    internal void Cancel(WaitingTimer timer)
    {
        if (!byNumber.Remove(timer.Number)) return;
        if (timer.IsArmed) runtime.Outbound.Write(new TimerDropped(timer.Number));
        timer.Disarm();
    }

    /// <summary>Behind an image the coordinator knows of no timer.</summary>
    internal void Restore(ulong next, IEnumerable<WaitingTimer> timers)
    {
        Next = next;
        foreach (WaitingTimer timer in timers)
        {
            if (timer.Number == 0 || timer.Number >= next)
                throw new InvalidDataException($"The image holds timer {timer.Number} where {next} is next.");
            byNumber.Add(timer.Number, timer);
            if (timer is Recurrence recurrence) recurrence.Attach(runtime);
            if (timer.IsArmed) Armed(timer);
        }
    }

    private ulong NextNumber()
    {
        runtime.Surroundings.CheckHandler();
        if (byNumber.Count == WaitingMax) throw new InvalidOperationException($"{WaitingMax} timers wait already, which is the limit.");
        return Next;
    }

    private long DueIn(TimeSpan time) => runtime.Surroundings.NowUs + time.Ticks / TimeSpan.TicksPerMicrosecond;

    private T Add<T>(T timer)
        where T : WaitingTimer
    {
        byNumber.Add(timer.Number, timer);
        Next++;
        Armed(timer);
        return timer;
    }
}
