// Drives the compiler's state machine of a method that returns Call<T>. No ExecutionContext, no SynchronizationContext, no delegates:
// handlers run on one thread in log order, and a suspended one is a single object of plain fields.
using System.ComponentModel;
using System.Runtime.CompilerServices;
using System.Runtime.ExceptionServices;

namespace Ambrosia;

/// <summary>Used by the compiler for methods that return <see cref="Call{T}"/>.</summary>
[EditorBrowsable(EditorBrowsableState.Never)]
public struct CallBuilder<T>
{
    /// <summary>Null until the method first suspends or fails. Of a method that goes on: its <see cref="Frame{TMachine, T}"/>.</summary>
    private Source<T>? frame;
    private T result;

    public readonly Call<T> Task => frame is null ? new Call<T>(result) : new Call<T>(frame);

    internal readonly Source<T>? Frame => frame;

    public static CallBuilder<T> Create() => default;

    public readonly void Start<TMachine>(ref TMachine machine)
        where TMachine : IAsyncStateMachine => machine.MoveNext();

    public readonly void SetStateMachine(IAsyncStateMachine machine)
    {
    }

    public void SetResult(T value)
    {
        if (frame is null)
        {
            result = value;
            return;
        }
        Scheduler.Current.FrameFinished();
        frame.Complete(value);
    }

    /// <summary>
    /// The compiler hands over everything that the method threw. What is no failure of a handler unwinds whoever runs it, as it does a
    /// method that is not async.
    /// </summary>
    public void SetException(Exception failure)
    {
        if (!ImmortalRuntime.IsOfHandler(failure)) ExceptionDispatchInfo.Throw(failure);
        if (frame is null) frame = new Source<T>();
        else Scheduler.Current.FrameFinished();
        frame.Fail(failure);
    }

    public void AwaitOnCompleted<TAwaiter, TMachine>(ref TAwaiter awaiter, ref TMachine machine)
        where TAwaiter : INotifyCompletion
        where TMachine : IAsyncStateMachine => Suspend(ref awaiter, ref machine);

    public void AwaitUnsafeOnCompleted<TAwaiter, TMachine>(ref TAwaiter awaiter, ref TMachine machine)
        where TAwaiter : ICriticalNotifyCompletion
        where TMachine : IAsyncStateMachine => Suspend(ref awaiter, ref machine);

    internal void Suspend<TAwaiter, TMachine>(ref TAwaiter awaiter, ref TMachine machine)
        where TMachine : IAsyncStateMachine
    {
        // The type test does not box: both sides are known to the JIT for a struct awaiter.
        if (awaiter is not ICallAwaiter) throw ForeignAwait.Of(typeof(TAwaiter), typeof(TMachine));
        Source awaited = ((ICallAwaiter)awaiter).Source!;
        if (frame is null)
        {
            var suspended = new Frame<TMachine, T>();
            // This builder is a field of the machine: it must know its frame before the machine is copied into it.
            frame = suspended;
            suspended.Machine = machine;
        }
        awaited.AwaitedBy(frame);
    }
}
