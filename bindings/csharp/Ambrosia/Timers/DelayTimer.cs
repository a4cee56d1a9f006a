namespace Ambrosia;

/// <summary>What <c>Delay</c> returns: done when its record is executed.</summary>
internal sealed class DelayTimer(ulong number, long dueUs) : WaitingTimer(number, dueUs)
{
    internal override bool Fire(ImmortalRuntime runtime)
    {
        Complete(default);
        return true;
    }

    internal override void GiveUp(Exception why)
    {
        if (IsDone) return;
        Scheduler.Current.Runtime.Timers.Cancel(this);
        Fail(why);
    }
}
