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
    /// <exception cref="ProtocolViolation">P7.2: who answers does not know the secret.</exception>
    /// <exception cref="OperationCanceledException">Stopped.</exception>
    public static LinkConnection Dial(string address, LinkSettings settings, CancellationToken stop = default)
    {
        IPEndPoint end = LinkAddress.ToDial(address, settings.Insecure);
        var socket = new Socket(end.AddressFamily, SocketType.Stream, ProtocolType.Tcp);
        try
        {
            // Disposed before the connection is handed over, so that a later stop does not end it.
            using CancellationTokenRegistration registration = stop.Register(() => Abort(socket));
            return DialOn(socket, end, settings);
        }
        catch (Exception e)
        {
            socket.Dispose();
            stop.ThrowIfCancellationRequested();
            if (e is SocketException or ObjectDisposedException) throw new LinkUnreachableException($"Cannot reach {address}: {e.Message}", e);
            throw;
        }
    }

    private static LinkConnection DialOn(Socket socket, IPEndPoint end, LinkSettings settings)
    {
        long begun = settings.Time.GetTimestamp();
        LinkSocket.Prepare(socket);
        LinkSocket.Connect(socket, end, settings.AuthenticationMax);
        // A dial of a free port of our own ephemeral range can meet itself, and would then keep the listener from its port.
        if (Equals(socket.LocalEndPoint, socket.RemoteEndPoint)) throw new SocketException((int)SocketError.ConnectionRefused);
        uint seed = Authenticate(socket, settings, begun);
        return new LinkConnection(socket, end, seed, isDialler: true, settings, settings.Time.GetTimestamp(), released: () => { });
    }

    private static uint Authenticate(Socket socket, LinkSettings settings, long begun)
    {
        Span<byte> nonce = stackalloc byte[LinkAuthentication.NonceBytes];
        settings.Random(nonce);
        var authentication = LinkAuthentication.Dialler(settings.Secret.Span, nonce);
        Span<byte> reply = stackalloc byte[LinkAuthentication.ReplyBytesMax];
        Span<byte> received = stackalloc byte[LinkAuthentication.AnswerBytes];
        int count = 0;
        while (authentication.Feed(received[..count], out _, reply, out int replyBytes) == AuthStatus.NeedMore)
        {
            socket.Send(reply[..replyBytes]);
            TimeSpan left = settings.AuthenticationMax - settings.Time.GetElapsedTime(begun);
            if (left <= TimeSpan.Zero) throw new SocketException((int)SocketError.TimedOut);
            socket.ReceiveTimeout = Math.Max(1, (int)left.TotalMilliseconds);
            count = socket.Receive(received[..authentication.BytesWanted]);
            if (count == 0) throw new SocketException((int)SocketError.ConnectionReset);
        }
        socket.Send(reply[..LinkAuthentication.ProofBytes]);
        return authentication.Seed;
    }

    private static void Abort(Socket socket)
    {
        LinkSocket.Shutdown(socket, SocketShutdown.Both);
        socket.Dispose();
    }
}
