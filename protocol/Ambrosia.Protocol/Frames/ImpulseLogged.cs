using Ambrosia.Protocol.Payloads;

namespace Ambrosia.Protocol.Frames;

/// <summary>States that all impulses of this session to one destination, up to a ticket, are durable there (protocol P5.9).</summary>
/// <param name="Destination">Index that the app declared.</param>
public readonly record struct ImpulseLogged(uint Destination, ulong Ticket) : IFramePayload<ImpulseLogged>
{
    public static FrameType Type => FrameType.ImpulseLogged;

    public int BytesMax => 12;

    public void Write(ref PayloadWriter to)
    {
        to.U32(Destination);
        to.U64(Ticket);
    }

    public static ImpulseLogged Read(ReadOnlySpan<byte> payload)
    {
        var from = PayloadReader.OfFrame(payload, "P5.9");
        var logged = new ImpulseLogged(from.U32(), from.U64());
        from.End();
        return logged;
    }
}
