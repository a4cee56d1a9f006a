using Ambrosia.Protocol.Payloads;

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
