using System.ComponentModel;
using System.Runtime.CompilerServices;

namespace Ambrosia;

/// <summary>Used by the compiler for <c>await</c> of a <see cref="Call"/>.</summary>
[EditorBrowsable(EditorBrowsableState.Never)]
public readonly struct CallAwaiter : ICriticalNotifyCompletion, ICallAwaiter
{
    private readonly Source<Nothing>? source;

    internal CallAwaiter(Source<Nothing>? source) => this.source = source;

    public bool IsCompleted => source is null || source.IsDone;

    Source? ICallAwaiter.Source => source;

    public void GetResult() => source?.Take();

    /// <summary>Reached only from async methods that are not of type Call: outside, for an impulse.</summary>
    public void OnCompleted(Action continuation) => Outside().OnCompleted(continuation);

    public void UnsafeOnCompleted(Action continuation) => Outside().UnsafeOnCompleted(continuation);

    private TaskAwaiter Outside() => source is LoggedImpulse impulse ? impulse.Task.GetAwaiter() : throw ForeignAwait.NotInHandler();
}
