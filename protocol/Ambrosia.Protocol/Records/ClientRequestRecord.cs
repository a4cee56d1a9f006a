namespace Ambrosia.Protocol;

/// <summary>A request of a caller outside (log-format L5.9). No version writes it yet.</summary>
/// <param name="Keyed">The message carries an idempotency key.</param>
/// <param name="Message">One whole message of kind 6, its length included (protocol P3.3).</param>
public sealed record ClientRequestRecord(Guid Session, ulong Request, bool Keyed, ReadOnlyMemory<byte> Message) : IRecordBody<ClientRequestRecord>
{
    public static RecordKind Kind => RecordKind.ClientRequest;

    public void Write(ref PayloadWriter to)
    {
        to.Uuid(Session);
        to.U64(Request);
        to.U8(Keyed ? (byte)1 : (byte)0);
        to.Raw(Message.Span);
    }

    public static ClientRequestRecord Read(ReadOnlySpan<byte> body)
    {
        var from = PayloadReader.OfFile(body, "L5.10");
        Guid session = from.Uuid();
        ulong request = from.U64();
        bool keyed = from.Flag();
        ReadOnlySpan<byte> message = from.Rest();
        CheckMessage(ref from, message, keyed);
        return new ClientRequestRecord(session, request, keyed, message.ToArray());
    }

    public bool Equals(ClientRequestRecord? other) =>
        other is not null && (Session, Request, Keyed) == (other.Session, other.Request, other.Keyed) && Message.Span.SequenceEqual(other.Message.Span);

    public override int GetHashCode() => HashCode.Combine(Session, Request, Keyed);

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
