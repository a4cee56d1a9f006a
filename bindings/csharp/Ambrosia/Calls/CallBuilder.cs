using System.ComponentModel;
using System.Runtime.CompilerServices;

namespace Ambrosia;

/// <summary>Used by the compiler for methods that return <see cref="Call"/>.</summary>
[EditorBrowsable(EditorBrowsableState.Never)]
public struct CallBuilder
{
    private CallBuilder<Nothing> inner;

    public readonly Call Task => new(inner.Frame);

    public static CallBuilder Create() => default;

    public readonly void Start<TMachine>(ref TMachine machine)
        where TMachine : IAsyncStateMachine => machine.MoveNext();

    public readonly void SetStateMachine(IAsyncStateMachine machine)
    {
    }

    public void SetResult() => inner.SetResult(default);

    public void SetException(Exception failure) => inner.SetException(failure);

    public void AwaitOnCompleted<TAwaiter, TMachine>(ref TAwaiter awaiter, ref TMachine machine)
        where TAwaiter : INotifyCompletion
        where TMachine : IAsyncStateMachine => inner.Suspend(ref awaiter, ref machine);

    public void AwaitUnsafeOnCompleted<TAwaiter, TMachine>(ref TAwaiter awaiter, ref TMachine machine)
        where TAwaiter : ICriticalNotifyCompletion
        where TMachine : IAsyncStateMachine => inner.Suspend(ref awaiter, ref machine);
}
