using Ambrosia.Protocol.Payloads;
using Ambrosia.Protocol.Runs;

namespace Ambrosia.Protocol.Records;

/// <summary>Holds the request or impulse of a client (log-format L5.9).</summary>
/// <param name="Session">Session that asked; the answer goes nowhere else.</param>
/// <param name="Request">Number of the request in the session; 0 for an impulse, for whose answer nobody waits.</param>
/// <param name="Keyed">Whether the message carries an idempotency key.</param>
/// <param name="Message">One whole message of kind 6, its length included (protocol P3.3).</param>
public sealed record ClientRequestRecord(
    ClientSessionId Session, ulong Request, bool Keyed, ReadOnlyMemory<byte> Message) : IRecordBody<ClientRequestRecord>
{
    public static RecordKind Kind => RecordKind.ClientRequest;

    public void Write(ref PayloadWriter to)
    {
        to.Uuid(Session.ToUuid());
        to.U64(Request);
        to.U8(Keyed ? (byte)1 : (byte)0);
        to.Raw(Message.Span);
    }

    public static ClientRequestRecord Read(ReadOnlySpan<byte> body)
    {
        ClientRequestView view = ClientRequestView.Read(body);
        return new ClientRequestRecord(view.Session, view.Request, view.Keyed, view.Message.ToArray());
    }

    public bool Equals(ClientRequestRecord? other) =>
        other is not null && (Session, Request, Keyed) == (other.Session, other.Request, other.Keyed)
        && Message.Span.SequenceEqual(other.Message.Span);

    public override int GetHashCode() => HashCode.Combine(Session, Request, Keyed);
}

/// <summary>Reads the body of a ClientRequest record (log-format L5.9) where it stands: a view, which lives as long as the bytes.</summary>
public readonly ref struct ClientRequestView
{
    private ClientRequestView(ClientSessionId session, ulong request, bool keyed, ReadOnlySpan<byte> message)
    {
        Session = session;
        Request = request;
        Keyed = keyed;
        Message = message;
    }

    /// <summary>The session that asked; the answer goes nowhere else.</summary>
    public ClientSessionId Session { get; }

    /// <summary>The number of the request in the session; 0 for an impulse, for whose answer nobody waits.</summary>
    public ulong Request { get; }

    /// <summary>True when the message carries an idempotency key.</summary>
    public bool Keyed { get; }

    /// <summary>The message is one whole message of kind 6, its length included (protocol P3.3).</summary>
    public ReadOnlySpan<byte> Message { get; }

    /// <summary>Reads method, key and arguments of the message.</summary>
    public MessageReader ReadMessage()
    {
        var reader = new MessageReader(Message, MessageKind.ClientRequest, Keyed);
        reader.Next();
        return reader;
    }

    /// <summary>Reads a body and checks that it holds exactly one message.</summary>
    /// <exception cref="ProtocolViolation">L5.10.</exception>
    public static ClientRequestView Read(ReadOnlySpan<byte> body)
    {
        var from = PayloadReader.OfFile(body, "L5.10");
        var session = ClientSessionId.Of(from.Uuid());
        ulong request = from.U64();
        bool keyed = from.Flag();
        ReadOnlySpan<byte> message = from.Rest();
        CheckMessage(ref from, message, keyed);
        return new ClientRequestView(session, request, keyed, message);
    }

    private static void CheckMessage(ref PayloadReader from, ReadOnlySpan<byte> message, bool keyed)
    {
        var reader = new MessageReader(message, MessageKind.ClientRequest, keyed);
        try
        {
            if (reader.Next() && !reader.Next()) return;
        }
        catch (ProtocolViolation violation)
        {
            throw from.Violation("L5.10", violation.Message);
        }
        throw from.Violation("L5.10", $"client request whose {message.Length} bytes are not one message");
    }
}
