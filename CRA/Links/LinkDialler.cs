using System.Net;
using System.Net.Sockets;
using Ambrosia.Protocol;
using CRA.Authentication;
using CRA.Streams;

namespace CRA.Links;

/// <summary>Makes connections. It blocks, so only pumps call it, and it keeps no state between calls.</summary>
public static class LinkDialler
{
    /// <summary>Connects to a listener and authenticates, both within <see cref="LinkSettings.AuthenticationMax"/>.</summary>
    /// <param name="address">A replica's address, as the catalog has it.</param>
    /// <param name="stop">Token that ends the dial early.</param>
    /// <param name="peer">Instance that is called; where there are certificates, the other side's must be for it.</param>
    /// <exception cref="LinkUnreachableException">Nobody listens there, the other side is too slow, or it closed, or the system gives out
    /// no socket; dial again later.</exception>
    /// <exception cref="LinkAddressException">The address is malformed or not allowed.</exception>
    /// <exception cref="ProtocolViolation">P7.2: the other side does not know the secret, or has not published this address. P7.4, P7.5: it
    /// does not have the right certificate.</exception>
    /// <exception cref="OperationCanceledException">The dial was stopped.</exception>
    public static LinkConnection Dial(string address, LinkSettings settings, CancellationToken stop = default, string? peer = null)
    {
        if (settings.Certificates is not null) ArgumentNullException.ThrowIfNull(peer);
        IPEndPoint end = LinkAddress.ToDial(address, settings.MayLeaveTheMachine);
        Socket? socket = null;
        try
        {
            // Even this fails for an ordinary reason: there are no descriptors left, or the machine has no IPv6.
            Socket made = socket = new Socket(end.AddressFamily, SocketType.Stream, ProtocolType.Tcp);
            // Disposed before the connection is handed over, so that a later stop does not end it.
            using CancellationTokenRegistration registration = stop.Register(() => Abort(made));
            return DialOn(made, end, address, settings, peer);
        }
        catch (Exception e)
        {
            socket?.Dispose();
            stop.ThrowIfCancellationRequested();
            if (e is SocketException or ObjectDisposedException or IOException)
                throw new LinkUnreachableException($"Cannot reach {address}: {e.Message}", e);
            throw;
        }
    }

    private static LinkConnection DialOn(Socket socket, IPEndPoint end, string address, LinkSettings settings, string? peer)
    {
        long begun = settings.Time.GetTimestamp();
        LinkSocket.Prepare(socket);
        LinkSocket.Connect(socket, end, settings.AuthenticationMax);
        // A dial of a free port of our own ephemeral range can meet itself, and would then keep the listener from its port.
        if (Equals(socket.LocalEndPoint, socket.RemoteEndPoint)) throw new SocketException((int)SocketError.ConnectionRefused);
        Span<byte> nonce = stackalloc byte[LinkAuthentication.NonceBytes];
        settings.Random(nonce);
        var authentication = LinkAuthentication.Dialler(settings.Secret.Span, nonce, address);
        if (settings.Certificates is null)
        {
            Authenticate(socket, authentication, settings, begun);
            return MakeLink(new PlainStream(socket), new(end, IsDialler: true, settings.Time.GetTimestamp(), authentication.Seed), settings);
        }
        TlsHandshake tls = TlsHandshake.Dial(socket, authentication, settings.Certificates(), peer!, () => TimeLeftMs(settings, begun));
        return MakeLink(tls.HandOn(), new(end, IsDialler: true, settings.Time.GetTimestamp(), tls.Seed, tls.CertifiedNames), settings);
    }

    private static LinkConnection MakeLink(LinkStream stream, LinkHandshakeResult handshake, LinkSettings settings) =>
        new(stream, handshake, settings, released: static () => { });

    /// <summary>Returns the time left for the authentication in ms; 0 when there is none.</summary>
    private static int TimeLeftMs(LinkSettings settings, long begun)
    {
        TimeSpan left = settings.AuthenticationMax - settings.Time.GetElapsedTime(begun);
        return left <= TimeSpan.Zero ? 0 : Math.Max(1, (int)Math.Min(left.TotalMilliseconds, int.MaxValue));
    }

    private static void Authenticate(Socket socket, LinkAuthentication authentication, LinkSettings settings, long begun)
    {
        Span<byte> reply = stackalloc byte[LinkAuthentication.ReplyBytesMax];
        Span<byte> received = stackalloc byte[LinkAuthentication.AnswerBytes];
        int count = 0;
        while (authentication.Feed(received[..count], out _, reply, out int replyBytes) == AuthenticationStatus.NeedMore)
        {
            socket.Send(reply[..replyBytes]);
            int leftMs = TimeLeftMs(settings, begun);
            if (leftMs == 0) throw new SocketException((int)SocketError.TimedOut);
            socket.ReceiveTimeout = leftMs;
            count = socket.Receive(received[..authentication.BytesWanted]);
            if (count == 0) throw new SocketException((int)SocketError.ConnectionReset);
        }
        socket.Send(reply[..LinkAuthentication.ProofBytes]);
    }

    private static void Abort(Socket socket)
    {
        LinkSocket.Shutdown(socket, SocketShutdown.Both);
        socket.Dispose();
    }
}

/// <summary>A dial failed for an ordinary reason (refused, timed out, closed); the caller backs off and dials again.</summary>
public sealed class LinkUnreachableException(string message, Exception? inner = null) : IOException(message, inner);
