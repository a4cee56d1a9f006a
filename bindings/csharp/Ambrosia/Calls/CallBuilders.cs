using System.ComponentModel;
using System.Runtime.CompilerServices;
using System.Runtime.ExceptionServices;
using Ambrosia.Calls;
using Ambrosia.Failures;
using Ambrosia.Suspension;

namespace Ambrosia;

/// <summary>Drives the state machines of methods that return <see cref="Call"/>. The compiler uses it.</summary>
[EditorBrowsable(EditorBrowsableState.Never)]
public struct CallBuilder
{
    private CallBuilder<Nothing> _inner;

    public readonly Call Task => new(_inner.Frame);

    public static CallBuilder Create() => default;

    public readonly void Start<TMachine>(ref TMachine machine)
        where TMachine : IAsyncStateMachine => machine.MoveNext();

    public readonly void SetStateMachine(IAsyncStateMachine machine)
    {
    }

    public void SetResult() => _inner.SetResult(default);

    public void SetException(Exception failure) => _inner.SetException(failure);

    public void AwaitOnCompleted<TAwaiter, TMachine>(ref TAwaiter awaiter, ref TMachine machine)
        where TAwaiter : INotifyCompletion
        where TMachine : IAsyncStateMachine => _inner.Suspend(ref awaiter, ref machine);

    public void AwaitUnsafeOnCompleted<TAwaiter, TMachine>(ref TAwaiter awaiter, ref TMachine machine)
        where TAwaiter : ICriticalNotifyCompletion
        where TMachine : IAsyncStateMachine => _inner.Suspend(ref awaiter, ref machine);
}

/// <summary>
/// Drives the state machines of methods that return <see cref="Call{T}"/>. The compiler uses it. It needs no ExecutionContext, no
/// SynchronizationContext and no delegates: handlers run on one thread in log order, and a suspended one is a single object of plain
/// fields.
/// </summary>
[EditorBrowsable(EditorBrowsableState.Never)]
public struct CallBuilder<T>
{
    /// <summary>The method's <see cref="Frame{TMachine, T}"/>, or its failure; null until the method first suspends or fails.</summary>
    private Source<T>? _frame;
    private T _result;

    public readonly Call<T> Task => _frame is null ? new Call<T>(_result) : new Call<T>(_frame);

    internal readonly Source<T>? Frame => _frame;

    public static CallBuilder<T> Create() => default;

    public readonly void Start<TMachine>(ref TMachine machine)
        where TMachine : IAsyncStateMachine => machine.MoveNext();

    public readonly void SetStateMachine(IAsyncStateMachine machine)
    {
    }

    public void SetResult(T value)
    {
        if (_frame is null)
        {
            _result = value;
            return;
        }
        Scheduler.Current.FrameFinished();
        _frame.Complete(value);
    }

    /// <summary>
    /// The compiler hands over everything that the method threw. What is no failure of a handler unwinds whoever runs it, as it does a
    /// method that is not async.
    /// </summary>
    public void SetException(Exception failure)
    {
        if (!HandlerFailure.Is(failure)) ExceptionDispatchInfo.Throw(failure);
        if (_frame is null) _frame = new Source<T>();
        else Scheduler.Current.FrameFinished();
        _frame.Fail(failure);
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
        if (_frame is null)
        {
            var suspended = new Frame<TMachine, T>();
            // This builder is a field of the machine: it must know its frame before the machine is copied into it.
            _frame = suspended;
            suspended.Machine = machine;
        }
        awaited.AwaitedBy(_frame);
    }
}

/// <summary>
/// A suspended async method: the compiler's state machine (a struct in Release, a class in Debug), and at the same time what its caller
/// waits for. It is made at the first real suspension; a method that never suspends makes none. Its builder completes it, and counts it
/// out.
/// </summary>
internal sealed class Frame<TMachine, T> : Source<T>, ISuspended
    where TMachine : IAsyncStateMachine
{
    internal TMachine Machine = default!;

    internal override string Place => MethodNames.OfMachine(Machine.GetType());

    internal Frame() => Scheduler.Current.FrameSuspended();

    Type ISuspended.MachineType => Machine.GetType();

    object ISuspended.BoxedMachine => Machine;

    bool ISuspended.IsDone => IsDone;

    Type ISuspended.FinishedType => typeof(Source<T>);

    internal override void Resume() => Machine.MoveNext();
}
