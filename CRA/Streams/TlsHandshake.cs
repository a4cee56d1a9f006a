using System.Net.Security;
using System.Net.Sockets;
using System.Security.Authentication;
using Ambrosia.Protocol;
using CRA.Authentication;

namespace CRA.Streams;

/// <summary>
/// Carries out TLS and, inside it, the authentication of P7, for one side of one connection. The dialler's side runs on its own thread and
/// waits; the acceptor's side is fed by the listener and never waits. A refusal comes before any frame of the link.
/// </summary>
internal sealed class TlsHandshake : IDisposable
{
    /// <summary>The hellos, certificates and proofs of one side take at most this many bytes; who sends more is closed (P7.3).</summary>
    public const int BytesMax = 32 * 1024;

    private const byte HandshakeRecord = 0x16;

    private readonly Socket _socket;
    private readonly TlsWire _wire;
    private readonly SslStream _tls;
    private readonly PeerCertificate _peer;
    private readonly LinkAuthentication _authentication;
    private int _fedBytes;
    private bool _isHandedOn;

    private TlsHandshake(Socket socket, LinkAuthentication authentication, string? expected, bool isFed)
    {
        _socket = socket;
        _wire = new TlsWire(socket, isFed);
        _tls = new SslStream(_wire, leaveInnerStreamOpen: true);
        _peer = new PeerCertificate(expected);
        _authentication = authentication;
        Negotiation = Task.CompletedTask;
    }

    /// <summary>This task completes when the other side is authenticated, and fails otherwise.</summary>
    public Task Negotiation { get; private set; }

    public uint Seed => _authentication.Seed;

    public IReadOnlyList<string> CertifiedNames => _peer.Names;

    public static TlsHandshake Accept(Socket socket, LinkAuthentication authentication, LinkCertificates certificates)
    {
        var handshake = new TlsHandshake(socket, authentication, expected: null, isFed: true);
        handshake.Negotiation = handshake.Negotiate(handshake._tls.AuthenticateAsServerAsync(certificates.ForAcceptor(handshake._peer)));
        return handshake;
    }

    /// <summary>Carries out the whole of the dialler's side on the calling thread.</summary>
    /// <exception cref="ProtocolViolation">P7.2: the other side does not know the secret. P7.4, P7.5: it does not show the right
    /// certificate.</exception>
    /// <exception cref="IOException">It does not speak TLS 1.3, refuses our certificate, is too slow, or closed.</exception>
    public static TlsHandshake Dial(
        Socket socket, LinkAuthentication authentication, LinkCertificates certificates, string expected, Func<int> timeLeftMs)
    {
        var handshake = new TlsHandshake(socket, authentication, expected, isFed: false);
        handshake._wire.TimeLeftMs = timeLeftMs;
        try
        {
            handshake.Negotiation = handshake.Negotiate(handshake._tls.AuthenticateAsClientAsync(certificates.ForDialler(handshake._peer)));
            handshake.Negotiation.GetAwaiter().GetResult();
            return handshake;
        }
        catch (Exception e)
        {
            handshake.Dispose();
            throw handshake.Explain(e);
        }
    }

    /// <summary>
    /// Gives the acceptor's side what has arrived, where no bytes mean the end; returns true when the other side is authenticated.
    /// </summary>
    /// <exception cref="ProtocolViolation">The other side broke P7; the connection closes.</exception>
    /// <exception cref="IOException">The connection broke.</exception>
    public bool Feed(ReadOnlySpan<byte> bytes)
    {
        if (_fedBytes == 0 && !bytes.IsEmpty && bytes[0] != HandshakeRecord)
            throw new ProtocolViolation("P7.4", bytes[0] == (byte)'A'
                ? "a connection without TLS where certificates are asked for; give its coordinator --tls-cert, --tls-key and --tls-ca"
                : "a connection with other first bytes than TLS's: neither a coordinator nor a caller. Keep others away from this port");
        _fedBytes += bytes.Length;
        if (_fedBytes > BytesMax) throw new ProtocolViolation("P7.3", $"more than {BytesMax} bytes before it was authenticated");
        _wire.Feed(bytes);
        // Nearly always everything has happened inside; the runtime may have moved a step to another thread, which does not take long.
        var spin = new SpinWait();
        while (!Negotiation.IsCompleted && !_wire.IsHungry) spin.SpinOnce();
        if (!Negotiation.IsCompleted) return false;
        try
        {
            Negotiation.GetAwaiter().GetResult();
            return true;
        }
        catch (Exception e)
        {
            throw Explain(e);
        }
    }

    /// <summary>Returns the stream of an authenticated connection, which holds what came behind the last proof.</summary>
    public TlsStream HandOn()
    {
        _isHandedOn = true;
        _wire.BeginLink();
        return new TlsStream(_socket, _tls, _wire);
    }

    private async Task Negotiate(Task handshake)
    {
        await handshake.ConfigureAwait(false);
        byte[] received = new byte[LinkAuthentication.AnswerBytes], reply = new byte[LinkAuthentication.ReplyBytesMax];
        int count = 0;
        while (true)
        {
            AuthenticationStatus status = _authentication.Feed(received.AsSpan(0, count), out _, reply, out int replyBytes);
            if (replyBytes > 0) await _tls.WriteAsync(reply.AsMemory(0, replyBytes)).ConfigureAwait(false);
            if (status == AuthenticationStatus.Done) return;
            count = await _tls.ReadAsync(received.AsMemory(0, _authentication.BytesWanted)).ConfigureAwait(false);
            if (count == 0)
                throw new IOException(
                    "closed by the other side before it was authenticated; it may have refused our certificate: its lines say why (P7.4)");
        }
    }

    /// <summary>
    /// Returns what an operator can act on: our own verdict about the certificate, otherwise the innermost message of TLS.
    /// </summary>
    private Exception Explain(Exception e) => e switch
    {
        _ when _peer.Refusal is { } refusal => refusal,
        ProtocolViolation => e,
        WireTimeoutException => new IOException("it did not answer in time", e),
        AuthenticationException => new ProtocolViolation("P7.4", $"TLS 1.3 was not agreed on, and no other is taken: {Innermost(e)}"),
        IOException => new IOException(Innermost(e), e),
        _ => e,
    };

    private static string Innermost(Exception e) => e.GetBaseException().Message;

    public void Dispose()
    {
        if (_isHandedOn) return;
        _tls.Dispose();
        _wire.Dispose();
    }
}
