using System.ComponentModel;

namespace Ambrosia;

/// <summary>An outstanding call to an immortal, without its result's type. <see cref="PendingCall{T}"/> implements it.</summary>
internal interface IPendingCall
{
    /// <summary>The counter of the call id.</summary>
    ulong Id { get; }

    uint Method { get; }

    /// <summary>
    /// The proxy by which the call was made: only its instance's result is accepted, and its class knows the result's type.
    /// </summary>
    ImmortalProxy Proxy { get; }

    Source Source { get; }

    /// <summary>Completes a call whose method returns nothing; false if it returns something.</summary>
    bool TryCompleteWithNothing();
}

/// <summary>
/// Waits for the result of a call. It is completed when the record with the result is executed. It names the call, so it can be in a
/// checkpoint.
/// </summary>
internal sealed class PendingCall<T>(ulong id, uint method, ImmortalProxy proxy) : Source<T>, IPendingCall
{
    private readonly ulong _id = id;
    private readonly uint _method = method;
    private readonly ImmortalProxy _proxy = proxy;

    internal override string Place => $"A call of method 0x{_method:X} of {_proxy}";

    ulong IPendingCall.Id => _id;

    uint IPendingCall.Method => _method;

    ImmortalProxy IPendingCall.Proxy => _proxy;

    Source IPendingCall.Source => this;

    bool IPendingCall.TryCompleteWithNothing()
    {
        if (this is not PendingCall<Nothing> nothing) return false;
        nothing.Complete(default);
        return true;
    }
}

/// <summary>Brings the result of an awaited call to who awaits it. Generated code decodes it.</summary>
[EditorBrowsable(EditorBrowsableState.Never)]
public readonly ref struct ArrivedResult
{
    private readonly IPendingCall _pending;

    internal ArrivedResult(IPendingCall pending, ReadOnlySpan<byte> value)
    {
        _pending = pending;
        Value = value;
    }

    /// <summary>The id of the called method in its contract.</summary>
    public uint Method => _pending.Method;

    /// <summary>The value: one CBOR item, or the bytes themselves (protocol P4.2). It is a view on the receive buffer.</summary>
    public ReadOnlySpan<byte> Value { get; }

    /// <summary>Completes the call with its decoded value.</summary>
    /// <exception cref="InvalidCastException">The call awaits another type.</exception>
    public void Complete<T>(T value)
    {
        if (_pending is not PendingCall<T> call) throw new InvalidCastException($"The result of method 0x{Method:X} is not a {typeof(T)}.");
        call.Complete(value);
    }

    /// <summary>Completes a call of a method that returns nothing.</summary>
    public void Complete()
    {
        if (!_pending.TryCompleteWithNothing()) throw new InvalidCastException($"The contract has no method 0x{Method:X} with a result.");
    }
}
