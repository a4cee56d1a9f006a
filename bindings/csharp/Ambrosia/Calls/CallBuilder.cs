using System.ComponentModel;
using System.Runtime.CompilerServices;

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
