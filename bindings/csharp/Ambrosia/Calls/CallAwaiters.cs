using System.ComponentModel;
using System.Runtime.CompilerServices;
using Ambrosia.Calls;

namespace Ambrosia;

/// <summary>Awaits a <see cref="Call"/>. The compiler uses it for <c>await</c>.</summary>
[EditorBrowsable(EditorBrowsableState.Never)]
public readonly struct CallAwaiter : ICriticalNotifyCompletion, ICallAwaiter
{
    private readonly Source<Nothing>? _source;

    internal CallAwaiter(Source<Nothing>? source) => _source = source;

    public bool IsCompleted => _source is null || _source.IsDone;

    Source? ICallAwaiter.Source => _source;

    public void GetResult() => _source?.Take();

    /// <summary>Continues an async method that is not of type Call: outside the immortal, for an impulse.</summary>
    public void OnCompleted(Action continuation)
    {
        if (_source is LoggedImpulse impulse) impulse.Task.GetAwaiter().OnCompleted(continuation);
        else ForeignAwait.GoOnInTest(_source!, continuation);
    }

    public void UnsafeOnCompleted(Action continuation)
    {
        if (_source is LoggedImpulse impulse) impulse.Task.GetAwaiter().UnsafeOnCompleted(continuation);
        else ForeignAwait.GoOnInTest(_source!, continuation);
    }
}

/// <summary>Awaits a <see cref="Call{T}"/>. The compiler uses it for <c>await</c>.</summary>
[EditorBrowsable(EditorBrowsableState.Never)]
public readonly struct CallAwaiter<T> : ICriticalNotifyCompletion, ICallAwaiter
{
    private readonly Source<T>? _source;
    private readonly T _value;

    internal CallAwaiter(Source<T>? source, T value)
    {
        _source = source;
        _value = value;
    }

    public bool IsCompleted => _source is null || _source.IsDone;

    Source? ICallAwaiter.Source => _source;

    public T GetResult() => _source is null ? _value : _source.Take();

    public void OnCompleted(Action continuation) => ForeignAwait.GoOnInTest(_source!, continuation);

    public void UnsafeOnCompleted(Action continuation) => ForeignAwait.GoOnInTest(_source!, continuation);
}
