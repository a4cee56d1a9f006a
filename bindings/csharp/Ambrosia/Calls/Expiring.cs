namespace Ambrosia;

/// <summary>
/// A call's outcome, or a <see cref="TimeoutException"/> if the record of its timer comes first: the log decides,
/// so every execution agrees.
/// </summary>
internal sealed class Expiring<T> : Source<T>
{
    private readonly Source<T> call;
    private readonly DelayTimer? timer;

    internal Expiring(Source<T> call, TimeSpan time)
    {
        this.call = call;
        if (call.IsDone)
        {
            Conclude();
            return;
        }
        timer = Scheduler.Current.Runtime.Timers.Delay(time);
        call.AwaitedBy(this);
        timer.AwaitedBy(this);
    }

    internal override void Resume()
    {
        if (!IsDone) Conclude();
    }

    internal override void GiveUp(Exception why)
    {
        if (IsDone) return;
        StopTimer();
        call.NoLongerAwaitedBy(this);
        call.GiveUp(why);
        Fail(why);
    }

    private void StopTimer()
    {
        if (timer is not { IsDone: false }) return;
        timer.NoLongerAwaitedBy(this);
        Scheduler.Current.Runtime.Timers.Cancel(timer);
    }

    /// <summary>A result that is there counts, even if the time is over too.</summary>
    private void Conclude()
    {
        if (!call.IsDone)
        {
            GiveUp(new TimeoutException("The call's result did not come in time."));
            return;
        }
        StopTimer();
        if (call.Error is { } failure) Fail(failure);
        else Complete(call.Take());
    }
}
