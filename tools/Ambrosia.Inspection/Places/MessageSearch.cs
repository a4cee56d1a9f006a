using Ambrosia.Inspection.Records;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Records;
using Ambrosia.Protocol.Runs;

namespace Ambrosia.Inspection.Places;

/// <summary>
/// A search that looks at one message after another; a record that holds none passes as one place. What cannot be decoded is passed over:
/// whoever executes it says more about it.
/// </summary>
internal abstract class MessageSearch(OriginNames names) : RecordSearch
{
    /// <summary>The names of the instances that have sent messages, as far as the search has come.</summary>
    protected OriginNames Names => names;

    /// <summary>Says that no message of a record is wanted, whatever they are; names are taken from it all the same.</summary>
    protected virtual bool IsOfNoInterest(Lsn record) => false;

    /// <summary>Looks at a message.</summary>
    /// <returns>False: no more are wanted.</returns>
    protected abstract bool Take(in PassingMessage message);

    protected sealed override bool Take(Lsn lsn, RecordKind kind, ReadOnlySpan<byte> body, long timeMicros, Epoch epoch)
    {
        if (kind != RecordKind.Peer && IsOfNoInterest(lsn)) return true;
        bool isRead = false;
        try
        {
            switch (kind)
            {
                case RecordKind.Run or RecordKind.ImpulseRun:
                    return TakeRun(lsn, RunView.Read(body), timeMicros, ref isRead);
                case RecordKind.ClientRequest:
                    MessageReader request = ClientRequestView.Read(body).ReadMessage();
                    isRead = true;
                    return Take(new PassingMessage(new MessagePlace(lsn, 0), timeMicros, MessageKind.ClientRequest, 0, request));
                case RecordKind.Peer:
                    names.Add(PeerRecord.Read(body));
                    break;
            }
        }
        catch (ProtocolViolation)
        {
            // Its place is one all the same.
        }
        return isRead || Take(new PassingMessage(new MessagePlace(lsn, 0), timeMicros, default, 0, default));
    }

    private bool TakeRun(Lsn lsn, RunView run, long timeMicros, ref bool isRead)
    {
        var messages = new MessageReader(run);
        for (uint index = 0; messages.Next(); index++)
        {
            isRead = true;
            var place = new MessagePlace(lsn, index);
            if (!Take(new PassingMessage(place, timeMicros, run.Header.Kind, run.Header.Peer, messages))) return false;
        }
        return true;
    }
}

/// <summary>It is a view on a message, or on a record without messages, for as long as a search looks at it.</summary>
/// <param name="place">It stands there.</param>
/// <param name="timeMicros">When its page was made, in µs since 1970.</param>
/// <param name="kind">The kind of its run; default: a record that holds no messages.</param>
/// <param name="origin">Who sent it, by the number that the log has for it; 0 is the instance itself.</param>
/// <param name="message">Its content.</param>
internal readonly ref struct PassingMessage(
    MessagePlace place, long timeMicros, MessageKind kind, uint origin, MessageReader message)
{
    private readonly MessageReader _message = message;

    public MessagePlace Place { get; } = place;
    public long TimeMicros { get; } = timeMicros;
    public MessageKind Kind { get; } = kind;
    public uint Origin { get; } = origin;
    public uint Method => _message.Method;
    public ulong CallId => _message.CallId;

    /// <summary>The idempotency key; empty: it has none.</summary>
    public ReadOnlySpan<byte> Key => _message.IsKeyed ? _message.Key : default;

    /// <summary>True if a handler is called, and no answer is given.</summary>
    public bool CallsMethod => Kind is MessageKind.Fork or MessageKind.Call or MessageKind.Impulse or MessageKind.ClientRequest;
}
