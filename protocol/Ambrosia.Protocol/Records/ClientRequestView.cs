namespace Ambrosia.Protocol;

/// <summary>A view on the body of a ClientRequest record (log-format L5.9); it copies nothing and lives as long as the bytes.</summary>
public readonly ref struct ClientRequestView
{
    private ClientRequestView(ClientSessionId session, ulong request, bool keyed, ReadOnlySpan<byte> message)
    {
        Session = session;
        Request = request;
        Keyed = keyed;
        Message = message;
    }

    /// <summary>The session that asked; an answer goes nowhere else.</summary>
    public ClientSessionId Session { get; }

    /// <summary>Number in the session; 0: an impulse, nobody waits for an answer.</summary>
    public ulong Request { get; }

    /// <summary>The message carries an idempotency key.</summary>
    public bool Keyed { get; }

    /// <summary>One whole message of kind 6, its length included (protocol P3.3).</summary>
    public ReadOnlySpan<byte> Message { get; }

    /// <summary>Its method, key and arguments.</summary>
    public MessageReader ReadMessage()
    {
        var reader = new MessageReader(Message, MessageKind.ClientRequest, Keyed);
        reader.Next();
        return reader;
    }

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
