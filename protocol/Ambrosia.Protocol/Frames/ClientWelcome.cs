using Ambrosia.Protocol.Payloads;

namespace Ambrosia.Protocol.Frames;

/// <summary>The instance answers a <see cref="ClientHello"/> that it accepts (protocol P10.2). From here on both sides send.</summary>
/// <param name="Session">Session that this connection is; its requests are numbered from 1.</param>
/// <param name="MessageBytesMax">Longest message that the instance accepts, in bytes.</param>
/// <param name="RequestsMax">Most messages that may be in flight, that is impulses not yet logged and requests not yet answered; ≥
/// 1.</param>
public sealed record ClientWelcome(
    ushort Version, Guid Uuid, string Replica, ClientSessionId Session, uint MessageBytesMax,
    uint RequestsMax) : IFramePayload<ClientWelcome>
{
    public static FrameType Type => FrameType.ClientWelcome;

    public int BytesMax => 2 + 16 + 1 + Names.CharsMax + ClientSessionId.Bytes + 4 + 4;

    public void Write(ref PayloadWriter to)
    {
        to.U16(Version);
        to.Uuid(Uuid);
        to.Name(Replica);
        to.Uuid(Session.ToUuid());
        to.U32(MessageBytesMax);
        to.U32(RequestsMax);
    }

    public static ClientWelcome Read(ReadOnlySpan<byte> payload)
    {
        var from = PayloadReader.OfFrame(payload, "P10.2");
        var welcome = new ClientWelcome(from.U16(), from.Uuid(), from.Name(), ClientSessionId.Of(from.Uuid()),
            from.MessageLimit(), from.U32());
        if (welcome.RequestsMax == 0) throw from.Violation("P10.2", "a session that takes no request");
        from.End();
        return welcome;
    }
}
