namespace Ambrosia.Schedules.Shims;

/// <summary>Stands for <see cref="System.Threading.ManualResetEventSlim"/>.</summary>
public sealed class ManualResetEventSlim(bool isSet) : IDisposable, IWaitable
{
    private bool _isSet = isSet;

    public ManualResetEventSlim() : this(false)
    {
    }

    public bool IsSet
    {
        get
        {
            Scheduler.Step(StepKind.VolatileRead);
            return _isSet;
        }
    }

    public bool CanGo(ControlledThread thread) => _isSet;

    public void Set()
    {
        Scheduler.Step(StepKind.Set);
        _isSet = true;
    }

    public void Reset()
    {
        Scheduler.Step(StepKind.Reset);
        _isSet = false;
    }

    public void Wait() => Scheduler.Wait(this, StepKind.Wait);

    public bool Wait(TimeSpan limit) => Scheduler.Wait(this, StepKind.Wait, limit >= TimeSpan.Zero);

    public bool Wait(int milliseconds) => Scheduler.Wait(this, StepKind.Wait, milliseconds >= 0);

    public void Wait(CancellationToken stop) => Wait(Timeout.InfiniteTimeSpan, stop);

    public bool Wait(TimeSpan limit, CancellationToken stop)
    {
        bool isOver = !Scheduler.Wait(new Cancellable(this, stop), StepKind.Wait, limit >= TimeSpan.Zero);
        stop.ThrowIfCancellationRequested();
        return !isOver;
    }

    public void Dispose()
    {
    }

    public override string ToString() => "an event";

    private sealed class Cancellable(ManualResetEventSlim on, CancellationToken stop) : IWaitable
    {
        public bool CanGo(ControlledThread thread) => on._isSet || stop.IsCancellationRequested;

        public override string ToString() => "an event, or to be stopped";
    }
}
