using System.Net;
using System.Net.Sockets;

namespace CRA.Tests;

// Passes one connection on in pieces of a few bytes, so that no message arrives whole.
internal sealed class ChoppyRelay : IDisposable
{
    private readonly Socket _listener = new(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
    private readonly List<Socket> _sockets = [];
    private readonly Thread _thread;

    public ChoppyRelay(int port, int chunk)
    {
        _listener.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        _listener.Listen();
        _thread = new Thread(() =>
        {
            Socket inside = _listener.Accept(), outside = new(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
            inside.NoDelay = true;
            outside.Connect(IPAddress.Loopback, port);
            lock (_sockets) _sockets.AddRange([inside, outside]);
            var back = new Thread(() => Pass(outside, inside, chunk)) { IsBackground = true };
            back.Start();
            Pass(inside, outside, chunk);
        })
        { IsBackground = true };
        _thread.Start();
    }

    public string Address => _listener.LocalEndPoint!.ToString()!;

    private static void Pass(Socket from, Socket to, int chunk)
    {
        byte[] bytes = new byte[chunk];
        try
        {
            for (int count; (count = from.Receive(bytes)) > 0;) to.Send(bytes.AsSpan(0, count));
            to.Shutdown(SocketShutdown.Send);
        }
        catch (Exception e) when (e is SocketException or ObjectDisposedException)
        {
            // One end is gone.
        }
    }

    public void Dispose()
    {
        _listener.Dispose();
        lock (_sockets)
            foreach (Socket socket in _sockets) socket.Dispose();
    }
}
