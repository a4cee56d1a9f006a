using System.ComponentModel;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using Ambrosia.Protocol;

namespace Ambrosia;

/// <summary>A fork, call or impulse on its way into its handler; valid until the handler returns. Used by generated code.</summary>
[EditorBrowsable(EditorBrowsableState.Never)]
public ref struct IncomingMessage
{
    private readonly ImmortalRuntime runtime;
    private readonly ReadOnlyMemory<byte> run;

    internal IncomingMessage(ImmortalRuntime runtime, uint origin, ReadOnlyMemory<byte> run)
    {
        this.runtime = runtime;
        this.run = run;
        Origin = origin;
    }

    public uint Method { get; internal set; }

    /// <summary>
    /// CBOR sequence, or the bytes themselves where the only parameter is bytes (protocol P4.2). A view on the receive buffer.
    /// </summary>
    public ReadOnlySpan<byte> Arguments { get; internal set; }

    /// <summary>The same as memory. It is overwritten when the handler has returned.</summary>
    public readonly ReadOnlyMemory<byte> ArgumentsMemory
    {
        get
        {
            if (Arguments.IsEmpty) return default;
            nint offset = Unsafe.ByteOffset(ref MemoryMarshal.GetReference(run.Span), ref MemoryMarshal.GetReference(Arguments));
            return run.Slice(checked((int)offset), Arguments.Length);
        }
    }

    /// <summary>The caller awaits a result.</summary>
    public readonly bool WantsResult => CallId != 0 || Outside is not null || IsQuery;

    /// <summary>Counter of the caller's call id; 0: fork or impulse.</summary>
    internal ulong CallId { get; set; }

    /// <summary>The caller's id in this log.</summary>
    internal uint Origin { get; }

    internal readonly InstanceId Caller => runtime.Origins[Origin];

    internal MessageKind Kind { get; init; }

    /// <summary>Where it stands in the log.</summary>
    internal MessagePlace Place { get; set; }

    /// <summary>How often its handler has thrown.</summary>
    internal uint Tries { get; init; }

    /// <summary>The call from outside that this is; null: it is one of an immortal, or its impulse without a key.</summary>
    internal OutsideCall? Outside { get; init; }

    /// <summary>A query: it has a result, and no place in the log.</summary>
    internal bool IsQuery { get; init; }

    /// <summary>No such method in this version of the contract.</summary>
    public readonly void Unknown() =>
        throw new MissingMethodException($"{runtime.TypeName} has no method with id 0x{Method:X} in its contract.");

    /// <summary>The handler returned nothing and is finished.</summary>
    public readonly void Done()
    {
        if (!WantsResult) return;
        OutgoingMessage result = BeginResult();
        SendResult(result);
    }

    /// <summary>The handler returned a Call: answers when it is finished.</summary>
    public readonly void Done(Call call)
    {
        if (call.Source is null) Done();
        else AnswerLater(call.Source);
    }

    /// <summary>True: the handler's Call is complete and this is its value; false: it is answered when it is finished.</summary>
    public readonly bool IsDone<T>(Call<T> call, out T value)
    {
        if (call.Source is null || (call.Source.IsDone && call.Source.Error is null))
        {
            value = call.GetAwaiter().GetResult();
            return true;
        }
        AnswerLater(call.Source);
        value = default!;
        return false;
    }

    public readonly OutgoingMessage BeginResult() =>
        Outside is null && !IsQuery ? runtime.Answers.Begin(runtime.Origins[Origin], CallId, Method)
        : new OutgoingMessage(ScratchBuffer.Begin());

    public readonly void SendResult(OutgoingMessage result)
    {
        if (IsQuery) runtime.Queries.Take(result.Aside!.Written);
        else if (Outside is null) runtime.Outbound.Commit();
        else runtime.Outside.Finish(Outside, result.Aside!.Written);
    }

    private readonly void AnswerLater(Source handler)
    {
        if (Outside is null) runtime.Answers.Later(handler, this);
        else runtime.Outside.AnswerLater(handler, Outside, this);
    }
}
