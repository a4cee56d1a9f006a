using System.Runtime.CompilerServices;

namespace Ambrosia;

/// <summary>
/// A suspended async method: the compiler's state machine (a struct in Release, a class in Debug), and at the same time the thing that
/// its caller waits for. Made at the first real suspension; a method that never suspends makes none. Its builder
/// completes it, and counts it out.
/// </summary>
internal sealed class Frame<TMachine, T> : Source<T>, ISuspended
    where TMachine : IAsyncStateMachine
{
    internal TMachine Machine = default!;

    internal Frame() => Scheduler.Current.FrameSuspended();

    Type ISuspended.MachineType => Machine.GetType();

    object ISuspended.BoxedMachine => Machine;

    internal override void Resume() => Machine.MoveNext();
}
