namespace Ambrosia.Schedules.Shims;

/// <summary>Stands for <see cref="System.Threading.WaitHandle"/>.</summary>
public abstract class WaitHandle : IDisposable, IWaitable
{
    private protected bool IsSet { get; set; }

    private protected abstract bool IsReset { get; }

    public bool CanGo(ControlledThread thread) => IsSet;

    public bool WaitOne() => WaitOne(hasLimit: false);

    public bool WaitOne(int milliseconds) => WaitOne(milliseconds >= 0);

    public bool WaitOne(TimeSpan limit) => WaitOne(limit >= TimeSpan.Zero);

    private bool WaitOne(bool hasLimit)
    {
        if (!Scheduler.Wait(this, StepKind.Wait, hasLimit)) return false;
        if (IsReset) IsSet = false;
        return true;
    }

    public void Close() => Dispose();

    public void Dispose() => GC.SuppressFinalize(this);

    public override string ToString() => "an event";
}

/// <summary>Stands for <see cref="System.Threading.EventWaitHandle"/>.</summary>
public abstract class EventWaitHandle : WaitHandle
{
    private protected EventWaitHandle(bool isSet) => IsSet = isSet;

    public bool Set()
    {
        Scheduler.Step(StepKind.Set);
        return IsSet = true;
    }

    public bool Reset()
    {
        Scheduler.Step(StepKind.Reset);
        IsSet = false;
        return true;
    }
}

/// <summary>Stands for <see cref="System.Threading.AutoResetEvent"/>.</summary>
public sealed class AutoResetEvent(bool isSet) : EventWaitHandle(isSet)
{
    private protected override bool IsReset => true;
}

/// <summary>Stands for <see cref="System.Threading.ManualResetEvent"/>.</summary>
public sealed class ManualResetEvent(bool isSet) : EventWaitHandle(isSet)
{
    private protected override bool IsReset => false;
}
