using Ambrosia.Protocol.Payloads;

namespace Ambrosia.Protocol.Frames;

/// <summary>States that everything this session has sent up to a number is durable (protocol P10.5). The statement is cumulative.</summary>
/// <param name="Position">Position behind the records of those messages, and behind the records at which the answers that follow were
/// made.</param>
public readonly record struct ClientLogged(ulong Number, Lsn Position) : IFramePayload<ClientLogged>
{
    public static FrameType Type => FrameType.ClientLogged;

    public int BytesMax => 16;

    public void Write(ref PayloadWriter to)
    {
        to.U64(Number);
        to.U64(Position.Value);
    }

    public static ClientLogged Read(ReadOnlySpan<byte> payload)
    {
        var from = PayloadReader.OfFrame(payload, "P10.5");
        var logged = new ClientLogged(from.U64(), from.Lsn());
        from.End();
        return logged;
    }
}
