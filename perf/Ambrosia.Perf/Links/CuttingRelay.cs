// Stands before a coordinator's link port and can end all connections through it at once. Two blocking threads a connection; the bytes are
// never touched. Any thread may cut.
using System.Net;
using System.Net.Sockets;

namespace Ambrosia.Perf;

/// <summary>A relay on loopback whose connections can be cut.</summary>
internal sealed class CuttingRelay : IDisposable
{
    private const int PieceBytes = 64 * 1024;

    private readonly Socket _listener = new(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
    private readonly IPEndPoint _target;
    private readonly List<Socket> _open = [];
    private volatile bool _stopped;

    public CuttingRelay(IPEndPoint target)
    {
        _target = target;
        _listener.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        _listener.Listen();
        new Thread(Accept) { IsBackground = true, Name = "relay" }.Start();
    }

    /// <summary>This is dialled instead of the target.</summary>
    public string Address => _listener.LocalEndPoint!.ToString()!;

    /// <summary>A port of loopback that was free a moment ago.</summary>
    public static IPEndPoint FreePort()
    {
        using var probe = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        probe.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        return (IPEndPoint)probe.LocalEndPoint!;
    }

    /// <summary>Ends every connection by a reset; returns how many sockets that were.</summary>
    public int Cut()
    {
        Socket[] all;
        lock (_open)
        {
            all = [.. _open];
            _open.Clear();
        }
        foreach (Socket socket in all) Reset(socket);
        return all.Length;
    }

    public void Dispose()
    {
        _stopped = true;
        _listener.Dispose();
        Cut();
    }

    private void Accept()
    {
        while (!_stopped)
        {
            try
            {
                PassOn(_listener.Accept());
            }
            catch (Exception e) when (e is SocketException or ObjectDisposedException)
            {
                // Closed by us, or the caller was gone already; the loop's condition tells which.
            }
        }
    }

    private void PassOn(Socket caller)
    {
        var callee = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
        caller.NoDelay = true;
        lock (_open) _open.AddRange([caller, callee]);
        try
        {
            callee.Connect(_target);
        }
        catch (SocketException)
        {
            Reset(caller);
            Reset(callee);
            return;
        }
        new Thread(() => Way(caller, callee)) { IsBackground = true, Name = "relay there" }.Start();
        new Thread(() => Way(callee, caller)) { IsBackground = true, Name = "relay back" }.Start();
    }

    private void Way(Socket from, Socket to)
    {
        byte[] bytes = new byte[PieceBytes];
        try
        {
            for (int count; (count = from.Receive(bytes)) > 0;)
                for (int sent = 0; sent < count;) sent += to.Send(bytes.AsSpan(sent, count - sent));
            to.Shutdown(SocketShutdown.Send);
        }
        catch (Exception e) when (e is SocketException or ObjectDisposedException)
        {
            Reset(from);
            Reset(to);
        }
        lock (_open) _open.RemoveAll(socket => socket == from);
    }

    private static void Reset(Socket socket)
    {
        try
        {
            socket.LingerState = new LingerOption(true, 0);
            socket.Shutdown(SocketShutdown.Both);
        }
        catch (Exception e) when (e is SocketException or ObjectDisposedException)
        {
            // It is gone already.
        }
        socket.Dispose();
    }
}
