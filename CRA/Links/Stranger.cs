using System.Net;
using System.Net.Sockets;
using Ambrosia.Protocol;

namespace CRA;

/// <summary>
/// A connection that came in and is not authenticated: the bytes that it may send, and nothing else, are taken, never waiting. Used by
/// the listener's thread.
/// </summary>
/// <param name="begun">Timestamp of its accept.</param>
/// <param name="tls">Null where links are not encrypted.</param>
internal sealed class Stranger(
    Socket socket, IPEndPoint remote, long begun, LinkAuthentication authentication, TlsHandshake? tls) : IDisposable
{
    private const int ChunkBytes = 4096;

    private bool _isHandedOn;

    public Socket Socket { get; } = socket;

    public IPEndPoint Remote { get; } = remote;

    public long Begun { get; } = begun;

    /// <summary>Takes what has arrived; true when the other side is authenticated.</summary>
    /// <exception cref="ProtocolViolation">It is not what it should be.</exception>
    /// <exception cref="SocketException">It broke.</exception>
    /// <exception cref="IOException">It broke.</exception>
    public bool Advance() => tls is null ? AdvancePlain() : AdvanceTls(tls);

    private bool AdvanceTls(TlsHandshake handshake)
    {
        Span<byte> received = stackalloc byte[ChunkBytes];
        return handshake.Feed(received[..Socket.Receive(received)]);
    }

    // Receives only what belongs to the authentication, so no frame is lost.
    private bool AdvancePlain()
    {
        Span<byte> received = stackalloc byte[LinkAuthentication.AnswerBytes];
        Span<byte> reply = stackalloc byte[LinkAuthentication.ReplyBytesMax];
        int count = Socket.Receive(received[..authentication.BytesWanted]);
        if (count == 0)
            throw new ProtocolViolation("P7.3", "closed by the other side before it was authenticated; if it is a peer, its lines say why");
        AuthStatus status = authentication.Feed(received[..count], out _, reply, out int replyBytes);
        if (replyBytes > 0) Socket.Send(reply[..replyBytes]); // less than any send buffer holds: does not wait
        return status == AuthStatus.Done;
    }

    /// <summary>The connection of one that is authenticated.</summary>
    public LinkConnection HandOn(LinkSettings settings, Action released)
    {
        _isHandedOn = true;
        LinkStream stream = tls is null ? new PlainStream(Socket) : tls.HandOn();
        return new LinkConnection(stream, Remote, authentication.Seed, isDialler: false, settings, Begun, released)
        {
            CertifiedNames = tls?.CertifiedNames
        };
    }

    public void Dispose()
    {
        if (_isHandedOn) return;
        Socket.Dispose();
        tls?.Dispose();
    }
}
