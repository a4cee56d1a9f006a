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

    /// <summary>Options say what its fields cannot.</summary>
    public HelloOptions Options { get; init; } = HelloOptions.None;

    public int BytesMax => 4 + 2 + 2 * (1 + Names.CharsMax) + 16 + 4 + 1 + HelloOptions.BytesMax;

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
        Options.Write(ref to);
    }

    public static ClientHello Read(ReadOnlySpan<byte> payload)
    {
        var from = PayloadReader.OfFrame(payload, "P10.1");
        ushort versionMin = from.U16(), versionMax = from.U16(), shard = from.U16();
        var hello = new ClientHello(versionMin, versionMax, new InstanceId(from.Name(), shard), from.Uuid(), from.Name(),
            from.MessageLimit(), from.Flag())
        {
            Options = HelloOptions.Read(ref from),
        };
        from.End();
        return hello;
    }
}

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

    /// <summary>Options say what its fields cannot.</summary>
    public HelloOptions Options { get; init; } = HelloOptions.None;

    public int BytesMax => 2 + 16 + 1 + Names.CharsMax + ClientSessionId.Bytes + 4 + 4 + HelloOptions.BytesMax;

    public void Write(ref PayloadWriter to)
    {
        to.U16(Version);
        to.Uuid(Uuid);
        to.Name(Replica);
        to.Uuid(Session.ToUuid());
        to.U32(MessageBytesMax);
        to.U32(RequestsMax);
        Options.Write(ref to);
    }

    public static ClientWelcome Read(ReadOnlySpan<byte> payload)
    {
        var from = PayloadReader.OfFrame(payload, "P10.2");
        var welcome = new ClientWelcome(from.U16(), from.Uuid(), from.Name(), ClientSessionId.Of(from.Uuid()),
            from.MessageLimit(), from.U32())
        {
            Options = HelloOptions.Read(ref from),
        };
        if (welcome.RequestsMax == 0) throw from.Violation("P10.2", "a session that takes no request");
        from.End();
        return welcome;
    }
}

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
