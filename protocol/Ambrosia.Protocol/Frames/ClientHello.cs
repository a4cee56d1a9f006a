using Ambrosia.Protocol.Payloads;

namespace Ambrosia.Protocol.Frames;

/// <summary>The first frame of a client (protocol P10.1) says which instance it wants to reach and what it calls itself.</summary>
/// <param name="Uuid">The instance's UUID if the client knows it; zero if it accepts any.</param>
/// <param name="Client">Name for operators; where there are certificates, one that the client's certificate is for.</param>
/// <param name="MessageBytesMax">Longest answer that the client accepts, in bytes.</param>
/// <param name="QueriesOnly">Whether it sends nothing but queries, so that a secondary may accept it.</param>
public sealed record ClientHello(
    ushort VersionMin, ushort VersionMax, InstanceId Instance, Guid Uuid, string Client, uint MessageBytesMax,
    bool QueriesOnly = false) : IFramePayload<ClientHello>
{
    public static FrameType Type => FrameType.ClientHello;

    public int BytesMax => 4 + 2 + 2 * (1 + Names.CharsMax) + 16 + 4 + 1;

    public bool Supports(ushort version) => VersionMin <= version && version <= VersionMax;

    public void Write(ref PayloadWriter to)
    {
        to.U16(VersionMin);
        to.U16(VersionMax);
        to.U16(Instance.Shard);
        to.Name(Instance.Name);
        to.Uuid(Uuid);
        to.Name(Client);
        to.U32(MessageBytesMax);
        to.U8(QueriesOnly ? (byte)1 : (byte)0);
    }

    public static ClientHello Read(ReadOnlySpan<byte> payload)
    {
        var from = PayloadReader.OfFrame(payload, "P10.1");
        ushort versionMin = from.U16(), versionMax = from.U16(), shard = from.U16();
        var hello = new ClientHello(versionMin, versionMax, new InstanceId(from.Name(), shard), from.Uuid(), from.Name(),
            from.MessageLimit(), from.Flag());
        from.End();
        return hello;
    }
}
