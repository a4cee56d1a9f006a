using System.ComponentModel;
using Ambrosia.Messages;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Runs;

namespace Ambrosia;

/// <summary>
/// A fork, call, impulse or query on its way into its handler. It is valid until the handler returns. Generated code uses it.
/// </summary>
[EditorBrowsable(EditorBrowsableState.Never)]
public ref struct IncomingMessage
{
    private readonly IReplies _replies;
    private readonly PeerTable _peers;

    /// <summary>Whose failure an exception is that is thrown now: the handler's, unless generated code decodes or encodes.</summary>
    private Stage _stage;

    internal IncomingMessage(IReplies replies, PeerTable peers, uint origin)
    {
        _replies = replies;
        _peers = peers;
        Origin = origin;
    }

    /// <summary>The id of the called method in its contract (P4.5).</summary>
    public uint Method { get; internal set; }

    /// <summary>
    /// The arguments: a CBOR sequence, or the bytes themselves where the only parameter is bytes (protocol P4.2). They are a view on the
    /// receive buffer, which only a span may show: what a handler can keep is a copy.
    /// </summary>
    public ReadOnlySpan<byte> Arguments { get; internal set; }

    /// <summary>True if the caller awaits a result.</summary>
    public readonly bool WantsResult => CallId != 0 || IsFromOutside;

    /// <summary>The counter of the caller's call id; 0: it is a fork or an impulse.</summary>
    internal ulong CallId { get; set; }

    /// <summary>The caller's id in this log.</summary>
    internal uint Origin { get; }

    internal readonly InstanceId Caller => _peers[Origin];

    internal MessageKind Kind { get; init; }

    /// <summary>Tells where the message stands in the log.</summary>
    internal MessagePlace Place { get; set; }

    /// <summary>The number of times that its handler has thrown.</summary>
    internal uint Tries { get; init; }

    /// <summary>True for a client's call, a keyed impulse or a query: it has no call id, and a result all the same.</summary>
    internal bool IsFromOutside { get; init; }

    /// <summary>Refuses a message of a method that this version of the contract does not have.</summary>
    public readonly void Unknown() =>
        throw new NoMethodException($"{_replies.TypeName} has no method with id 0x{Method:X} in its contract.", Method);

    /// <summary>Ends the message of a handler that returned nothing and is finished.</summary>
    public void Done()
    {
        if (!WantsResult) return;
        OutgoingMessage result = BeginResult();
        SendResult(result);
    }

    /// <summary>Ends the message of a handler that returned a Call: it is answered when that is finished.</summary>
    public void Done(Call call)
    {
        if (call.Source is null) Done();
        else AnswerLater(call.Source);
    }

    /// <summary>
    /// True: the handler's Call is complete and <paramref name="value"/> is its value. False: the message is answered when the Call is
    /// finished.
    /// </summary>
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

    /// <summary>Says that the arguments are decoded from here to <see cref="ArgumentsRead"/>.</summary>
    public void ReadArguments() => _stage = Stage.Arguments;

    /// <summary>Says that the arguments are decoded: what throws from here on is the handler.</summary>
    public void ArgumentsRead() => _stage = Stage.Handler;

    /// <summary>Begins the result: the caller encodes it into the message and gives that to <see cref="SendResult"/>.</summary>
    public OutgoingMessage BeginResult()
    {
        _stage = Stage.Result;
        return _replies.Begin(this);
    }

    /// <summary>Sends the result that BeginResult began.</summary>
    public void SendResult(OutgoingMessage result)
    {
        _replies.Send(result);
        _stage = Stage.Handler;
    }

    /// <exception cref="ProtocolViolation">The run's header says another number (P3.1).</exception>
    internal static void CheckCount(RunView run, uint count)
    {
        if (count != run.End) throw new ProtocolViolation("P3.1", $"run says {run.Header.Count} messages and holds {count}");
    }

    /// <summary>
    /// Returns the failure of this message: what the handler threw, or that its arguments or its result do not travel (protocol P4.6).
    /// </summary>
    internal Exception FailureOf(Exception thrown)
    {
        Stage stage = _stage;
        _stage = Stage.Handler;
        return stage switch
        {
            Stage.Arguments => BadArgumentsException.Of(thrown, Method),
            Stage.Result => BadResultException.Of(thrown, Method),
            _ => thrown,
        };
    }

    private readonly void AnswerLater(Source handler) => _replies.SendLater(handler, this);

    private enum Stage : byte { Handler, Arguments, Result }
}

/// <summary>
/// Sends results of handlers where they belong: to the calling immortal, to a caller outside, or to the asker of a query. Thread: the
/// scheduler's.
/// </summary>
internal interface IReplies
{
    /// <summary>The name of the immortal's class, for messages to people.</summary>
    string TypeName { get; }

    /// <summary>Begins the result of the message whose handler runs; it is encoded and then sent.</summary>
    OutgoingMessage Begin(scoped in IncomingMessage message);

    void Send(OutgoingMessage result);

    /// <summary>Sends the outcome of a Call that is not complete, or has failed, when it is there.</summary>
    void SendLater(Source handler, in IncomingMessage message);
}
