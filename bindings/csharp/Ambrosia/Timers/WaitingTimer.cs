using Ambrosia.Calls;
using Ambrosia.Timers;

namespace Ambrosia;

/// <summary>
/// A timer of the immortal by its number, waiting for the record that says it is due. It has ordinary fields, so that it is part of an
/// image like any other object. Invariant: only an armed timer can fire, and only by a record of exactly its due time.
/// </summary>
internal abstract class WaitingTimer(ulong number, long dueUs) : Source<Nothing>
{
    private readonly ulong _number = number;
    private long _dueUs = dueUs;
    private bool _isArmed = true;

    /// <summary>The number of the timer, from 1, counted through the instance's life.</summary>
    internal ulong Number => _number;

    /// <summary>The page time at which it is due, µs since 1970.</summary>
    internal long DueUs => _dueUs;

    internal bool IsArmed => _isArmed;

    /// <summary>Fires it, inside the scheduler. True: it is done for good. False: it stays in the table.</summary>
    internal abstract bool Fire(OutstandingTimers timers);

    internal void Disarm() => _isArmed = false;

    private protected void Arm(long nextDueUs) => (_dueUs, _isArmed) = (nextDueUs, true);
}

/// <summary>A timer that <c>Delay</c> returns: it is done when its record is executed.</summary>
internal sealed class DelayTimer(ulong number, long dueUs) : WaitingTimer(number, dueUs)
{
    internal override bool Fire(OutstandingTimers timers)
    {
        Complete(default);
        return true;
    }

    internal override void GiveUp(Exception why)
    {
        if (IsDone) return;
        Scheduler.Current.Session.CancelDelay(this);
        FailGivenUp(why);
    }
}
