using System.Runtime.CompilerServices;

namespace Ambrosia.Schedules.Shims;

/// <summary>Stands for <see cref="System.Threading.Monitor"/>.</summary>
public static class Monitor
{
    private static readonly ConditionalWeakTable<object, State> s_states = [];

    public static void Enter(object on) => Of(on).Lock.Enter();

    public static void Enter(object on, ref bool isTaken)
    {
        Enter(on);
        isTaken = true;
    }

    public static bool TryEnter(object on) => Of(on).Lock.TryEnter();

    public static void TryEnter(object on, ref bool isTaken) => isTaken = TryEnter(on);

    public static void Exit(object on) => Of(on).Lock.Exit();

    public static bool Wait(object on) => Wait(on, hasLimit: false);

    public static bool Wait(object on, int milliseconds) => Wait(on, milliseconds >= 0);

    public static bool Wait(object on, TimeSpan limit) => Wait(on, limit >= TimeSpan.Zero);

    public static void Pulse(object on)
    {
        Scheduler.Step(StepKind.Pulse);
        foreach (Waiter each in Of(on).Waiters)
        {
            if (each.IsPulsed) continue;
            each.IsPulsed = true;
            return;
        }
    }

    public static void PulseAll(object on)
    {
        Scheduler.Step(StepKind.Pulse);
        foreach (Waiter each in Of(on).Waiters) each.IsPulsed = true;
    }

    private static bool Wait(object on, bool hasLimit)
    {
        State state = Of(on);
        var waiter = new Waiter(state.Lock);
        state.Waiters.Add(waiter);
        state.Lock.Exit();
        bool isPulsed = false;
        try
        {
            isPulsed = Scheduler.Wait(waiter, StepKind.MonitorWait, hasLimit);
        }
        finally
        {
            state.Waiters.Remove(waiter);
            if (isPulsed) state.Lock.Enter();
            else EnterAgain(state.Lock);
        }
        return isPulsed;
    }

    private static void EnterAgain(Lock on)
    {
        if (Scheduler.Current!.Scheduler.IsAborting) on.TakeAnyway();
        else on.Enter();
    }

    private static State Of(object on) => s_states.GetValue(on, static _ => new State());

    private sealed class State
    {
        public Lock Lock { get; } = new();

        public List<Waiter> Waiters { get; } = [];
    }

    private sealed class Waiter(Lock on) : IWaitable
    {
        public bool IsPulsed { get; set; }

        public bool CanGo(ControlledThread thread) => IsPulsed && on.CanGo(thread);

        public override string ToString() => IsPulsed ? on.ToString() : "a pulse";
    }
}
