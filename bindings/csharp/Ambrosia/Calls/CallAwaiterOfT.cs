using System.ComponentModel;
using System.Runtime.CompilerServices;

namespace Ambrosia;

/// <summary>Used by the compiler for <c>await</c> of a <see cref="Call{T}"/>.</summary>
[EditorBrowsable(EditorBrowsableState.Never)]
public readonly struct CallAwaiter<T> : ICriticalNotifyCompletion, ICallAwaiter
{
    private readonly Source<T>? source;
    private readonly T value;

    internal CallAwaiter(Source<T>? source, T value)
    {
        this.source = source;
        this.value = value;
    }

    public bool IsCompleted => source is null || source.IsDone;

    Source? ICallAwaiter.Source => source;

    public T GetResult() => source is null ? value : source.Take();

    public void OnCompleted(Action continuation) => throw ForeignAwait.NotInHandler();

    public void UnsafeOnCompleted(Action continuation) => throw ForeignAwait.NotInHandler();
}
