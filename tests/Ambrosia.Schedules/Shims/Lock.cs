namespace Ambrosia.Schedules.Shims;

/// <summary>Stands for <see cref="System.Threading.Lock"/>; it is reentrant, as that is.</summary>
public sealed class Lock : IWaitable
{
    private ControlledThread? _owner;
    private int _depth;

    public bool IsHeldByCurrentThread => _owner is { } owner && owner == Scheduler.Current;

    public bool CanGo(ControlledThread thread) => _owner is null || _owner == thread;

    public void Enter()
    {
        Scheduler.Wait(this, StepKind.Lock);
        Take();
    }

    public Scope EnterScope()
    {
        Enter();
        return new Scope(this);
    }

    public bool TryEnter()
    {
        Scheduler.Step(StepKind.TryLock);
        if (!CanGo(Scheduler.Current!)) return false;
        Take();
        return true;
    }

    private void Take()
    {
        _owner = Scheduler.Current;
        _depth++;
    }

    /// <summary>Lets a thread that is being ended leave the lock as its code does.</summary>
    internal void TakeAnyway() => Take();

    /// <summary>It is no step: what the thread did before is seen no sooner than at its next one.</summary>
    public void Exit()
    {
        if (--_depth == 0) _owner = null;
    }

    public override string ToString() => $"a lock that {_owner?.Name ?? "nobody"} holds";

    public readonly ref struct Scope(Lock taken)
    {
        public void Dispose() => taken?.Exit();
    }
}
