using System.ComponentModel;

namespace Ambrosia;

/// <summary>The result of an awaited call on its way to who awaits it. Used by generated code.</summary>
[EditorBrowsable(EditorBrowsableState.Never)]
public readonly ref struct ArrivedResult
{
    private readonly IPendingCall pending;

    internal ArrivedResult(IPendingCall pending, ReadOnlySpan<byte> value)
    {
        this.pending = pending;
        Value = value;
    }

    public uint Method => pending.Method;

    /// <summary>One CBOR item, or the bytes themselves (protocol P4.2). A view on the receive buffer.</summary>
    public ReadOnlySpan<byte> Value { get; }

    public void Complete<T>(T value)
    {
        if (pending is not PendingCall<T> call) throw new InvalidCastException($"The result of method 0x{Method:X} is not a {typeof(T)}.");
        call.Complete(value);
    }

    /// <summary>A method that returns nothing.</summary>
    public void Complete()
    {
        if (!pending.TryCompleteWithNothing()) throw new InvalidCastException($"The contract has no method 0x{Method:X} with a result.");
    }
}
