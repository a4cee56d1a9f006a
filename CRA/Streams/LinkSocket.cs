using System.Net;
using System.Net.Sockets;
using System.Runtime.InteropServices;

namespace CRA.Streams;

/// <summary>
/// Makes the socket calls that the framework lacks, and sets the options of every link. Sockets of links stay in blocking mode for ever:
/// the framework never takes non-blocking mode back and would from then on send each blocking call through its event thread.
/// </summary>
internal static partial class LinkSocket
{
    private const int WouldBlock = 11; // EAGAIN on Linux
    private const int Interrupted = 4; // EINTR
    private const int DontWait = 0x40; // MSG_DONTWAIT
    private const int NoSignal = 0x4000; // MSG_NOSIGNAL

    /// <summary>
    /// Sets the options. Heartbeats find half-open links within 5 s; keepalive is for the time in which our in thread waits for room.
    /// TCP_USER_TIMEOUT is left alone: Linux counts a closed window too, so a peer that holds us back for that long would lose the link.
    /// </summary>
    internal static void Prepare(Socket socket)
    {
        socket.NoDelay = true;
        socket.SetSocketOption(SocketOptionLevel.Socket, SocketOptionName.KeepAlive, true);
        socket.SetSocketOption(SocketOptionLevel.Tcp, SocketOptionName.TcpKeepAliveTime, 5);
        socket.SetSocketOption(SocketOptionLevel.Tcp, SocketOptionName.TcpKeepAliveInterval, 2);
        socket.SetSocketOption(SocketOptionLevel.Tcp, SocketOptionName.TcpKeepAliveRetryCount, 3);
    }

    /// <summary>Connects within about <paramref name="timeout"/>.</summary>
    /// <exception cref="SocketException">Refused, unreachable or timed out.</exception>
    internal static void Connect(Socket socket, IPEndPoint end, TimeSpan timeout)
    {
        // On Linux a send timeout bounds the connect as well; afterwards sends wait as long as they must.
        socket.SendTimeout = Math.Max(1, (int)timeout.TotalMilliseconds);
        socket.Connect(end);
        socket.SendTimeout = 0;
    }

    /// <summary>
    /// Hands over what the socket has room for, without waiting. It returns 0 when there is no room, or where the system has no such call.
    /// </summary>
    /// <exception cref="SocketException">The connection is broken.</exception>
    internal static int TrySend(Socket socket, ReadOnlySpan<byte> bytes)
    {
        if (!OperatingSystem.IsLinux()) return 0;
        while (true)
        {
            nint sent = Send(socket.SafeHandle, bytes, (nuint)bytes.Length, DontWait | NoSignal);
            if (sent >= 0) return (int)sent;
            int error = Marshal.GetLastPInvokeError();
            if (error == WouldBlock) return 0;
            if (error != Interrupted) throw Broken(error);
        }
    }

    /// <summary>
    /// Ends these directions, which also ends the calls that other threads are blocked in. It does nothing where that has happened already.
    /// </summary>
    internal static void Shutdown(Socket socket, SocketShutdown how)
    {
        try
        {
            socket.Shutdown(how);
        }
        catch (Exception e) when (e is SocketException or ObjectDisposedException)
        {
            // The other side was faster.
        }
    }

    private static SocketException Broken(int error) =>
        new((int)SocketError.ConnectionReset, $"send: {Marshal.GetPInvokeErrorMessage(error)}");

    [LibraryImport("libc", EntryPoint = "send", SetLastError = true)]
    private static partial nint Send(SafeHandle socket, ReadOnlySpan<byte> bytes, nuint length, int flags);
}
