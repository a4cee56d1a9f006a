namespace Ambrosia.Protocol;

/// <summary>Everything that this session has sent up to a number is durable; cumulative (protocol P10.5).</summary>
public readonly record struct ClientLogged(ulong Number) : IFramePayload<ClientLogged>
{
    public static FrameType Type => FrameType.ClientLogged;

    public int BytesMax => 8;

    public void Write(ref PayloadWriter to) => to.U64(Number);

    public static ClientLogged Read(ReadOnlySpan<byte> payload)
    {
        var from = PayloadReader.OfFrame(payload, "P10.5");
        var logged = new ClientLogged(from.U64());
        from.End();
        return logged;
    }
}
