namespace Ambrosia;

/// <summary>An outstanding call to an immortal, without its result's type; see <see cref="PendingCall{T}"/>.</summary>
internal interface IPendingCall
{
    /// <summary>Counter of the call id.</summary>
    ulong Id { get; }

    uint Method { get; }

    /// <summary>Whom the call was made on: only that instance's result is accepted, and its class knows the result's type.</summary>
    ImmortalProxy Proxy { get; }

    Source Source { get; }

    /// <summary>Completes a call whose method returns nothing; false if it returns something.</summary>
    bool TryCompleteWithNothing();
}

/// <summary>
/// An outstanding call: completed when the record with its result is executed. It names the call, so it can be in a checkpoint.
/// </summary>
internal sealed class PendingCall<T>(ulong id, uint method, ImmortalProxy proxy) : Source<T>, IPendingCall
{
    private readonly ulong id = id;
    private readonly uint method = method;
    private readonly ImmortalProxy proxy = proxy;

    ulong IPendingCall.Id => id;

    uint IPendingCall.Method => method;

    ImmortalProxy IPendingCall.Proxy => proxy;

    Source IPendingCall.Source => this;

    bool IPendingCall.TryCompleteWithNothing()
    {
        if (this is not PendingCall<Nothing> nothing) return false;
        nothing.Complete(default);
        return true;
    }
}
