using System.Net;
using System.Net.Sockets;
using Ambrosia.Protocol;
using CRA.Authentication;
using CRA.Streams;

namespace CRA.Links;

/// <summary>
/// A connection that came in and is not authenticated yet. It takes only the bytes that the authentication needs, and never waits. The
/// listener's thread uses it.
/// </summary>
/// <param name="begun">Timestamp of the accept.</param>
/// <param name="tls">Handshake of TLS; null where links are not encrypted.</param>
internal sealed class UnauthenticatedConnection(
    Socket socket, IPEndPoint remote, long begun, LinkAuthentication authentication, TlsHandshake? tls) : IDisposable
{
    private const int ChunkBytes = 4096;

    private bool _isHandedOn;

    public Socket Socket { get; } = socket;

    public IPEndPoint Remote { get; } = remote;

    public long Begun { get; } = begun;

    /// <summary>Takes what has arrived; returns true when the other side is authenticated.</summary>
    /// <exception cref="ProtocolViolation">The other side broke P7.</exception>
    /// <exception cref="SocketException">The connection broke.</exception>
    /// <exception cref="IOException">The connection broke.</exception>
    public bool Advance() => tls is null ? AdvancePlain() : AdvanceTls(tls);

    private bool AdvanceTls(TlsHandshake handshake)
    {
        Span<byte> received = stackalloc byte[ChunkBytes];
        return handshake.Feed(received[..Socket.Receive(received)]);
    }

    /// <summary>Receives only what belongs to the authentication, so that no frame is lost.</summary>
    private bool AdvancePlain()
    {
        Span<byte> received = stackalloc byte[LinkAuthentication.AnswerBytes];
        Span<byte> reply = stackalloc byte[LinkAuthentication.ReplyBytesMax];
        int count = Socket.Receive(received[..authentication.BytesWanted]);
        if (count == 0)
            throw new ProtocolViolation("P7.3", "closed by the other side before it was authenticated; if it is a peer, its lines say why");
        AuthenticationStatus status = authentication.Feed(received[..count], out _, reply, out int replyBytes);
        if (replyBytes > 0) Socket.Send(reply[..replyBytes]); // less than any send buffer holds: does not wait
        return status == AuthenticationStatus.Done;
    }

    /// <summary>Makes the link of a connection that is authenticated, and gives it the socket.</summary>
    public LinkConnection HandOn(LinkSettings settings, Action released)
    {
        _isHandedOn = true;
        LinkStream stream = tls is null ? new PlainStream(Socket) : tls.HandOn();
        var handshake = new LinkHandshakeResult(Remote, IsDialler: false, Begun, authentication.Seed, tls?.CertifiedNames);
        return new LinkConnection(stream, handshake, settings, released);
    }

    public void Dispose()
    {
        if (_isHandedOn) return;
        Socket.Dispose();
        tls?.Dispose();
    }
}
