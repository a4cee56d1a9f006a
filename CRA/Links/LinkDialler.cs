using System.Net;
using System.Net.Sockets;
using Ambrosia.Protocol;

namespace CRA;

/// <summary>Makes connections. Blocking, so that only pumps call it; it keeps nothing between calls.</summary>
public static class LinkDialler
{
    /// <summary>Connects to a listener and authenticates, both within <see cref="LinkSettings.AuthenticationMax"/>.</summary>
    /// <param name="address">A replica's address, as the catalog has it.</param>
    /// <param name="stop">Ends the dial early.</param>
    /// <exception cref="LinkUnreachableException">Nobody there, too slow, or closed: dial again later.</exception>
    /// <exception cref="LinkAddressException">The address is malformed or not allowed.</exception>
    /// <exception cref="ProtocolViolation">P7.2: who answers does not know the secret; P7.4, P7.5: it has not the right
    /// certificate.</exception>
    /// <exception cref="OperationCanceledException">Stopped.</exception>
    /// <param name="peer">The instance that is called; where there are certificates, the other side's must be for it.</param>
    public static LinkConnection Dial(string address, LinkSettings settings, CancellationToken stop = default, string? peer = null)
    {
        if (settings.Certificates is not null) ArgumentNullException.ThrowIfNull(peer);
        IPEndPoint end = LinkAddress.ToDial(address, settings.MayLeaveTheMachine);
        var socket = new Socket(end.AddressFamily, SocketType.Stream, ProtocolType.Tcp);
        try
        {
            // Disposed before the connection is handed over, so that a later stop does not end it.
            using CancellationTokenRegistration registration = stop.Register(() => Abort(socket));
            return DialOn(socket, end, settings, peer);
        }
        catch (Exception e)
        {
            socket.Dispose();
            stop.ThrowIfCancellationRequested();
            if (e is SocketException or ObjectDisposedException or IOException)
                throw new LinkUnreachableException($"Cannot reach {address}: {e.Message}", e);
            throw;
        }
    }

    private static LinkConnection DialOn(Socket socket, IPEndPoint end, LinkSettings settings, string? peer)
    {
        long begun = settings.Time.GetTimestamp();
        LinkSocket.Prepare(socket);
        LinkSocket.Connect(socket, end, settings.AuthenticationMax);
        // A dial of a free port of our own ephemeral range can meet itself, and would then keep the listener from its port.
        if (Equals(socket.LocalEndPoint, socket.RemoteEndPoint)) throw new SocketException((int)SocketError.ConnectionRefused);
        Span<byte> nonce = stackalloc byte[LinkAuthentication.NonceBytes];
        settings.Random(nonce);
        var authentication = LinkAuthentication.Dialler(settings.Secret.Span, nonce);
        if (settings.Certificates is null)
        {
            Authenticate(socket, authentication, settings, begun);
            return new LinkConnection(new PlainStream(socket), end, authentication.Seed, isDialler: true, settings,
                settings.Time.GetTimestamp(), released: () => { });
        }
        TlsHandshake tls = TlsHandshake.Dial(socket, authentication, settings.Certificates(), peer!, () => TimeLeftMs(settings, begun));
        return new LinkConnection(tls.HandOn(), end, tls.Seed, isDialler: true, settings, settings.Time.GetTimestamp(), released: () => { })
        {
            CertifiedNames = tls.CertifiedNames
        };
    }

    // 0 when there is none.
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
        while (authentication.Feed(received[..count], out _, reply, out int replyBytes) == AuthStatus.NeedMore)
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
