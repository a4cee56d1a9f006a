using System.Net;
using System.Net.Sockets;
using BenchmarkDotNet.Attributes;

namespace Ambrosia.Benchmarks;

/// <summary>The hop between app and coordinator: blocking sockets with a thread at the other end that sends back what it gets.</summary>
[MemoryDiagnoser]
public class LocalHop
{
    private readonly string _path = Path.Combine(Path.GetTempPath(), $"ambrosia-bench-{Environment.ProcessId}.sock");
    private readonly List<Socket> _sockets = [];
    private byte[] _message = [];
    private Socket _unix = null!, _tcp = null!;

    [Params(16, 65536)]
    public int Bytes { get; set; }

    [GlobalSetup]
    public void Setup()
    {
        _message = new byte[Bytes];
        File.Delete(_path);
        _unix = Connect(new UnixDomainSocketEndPoint(_path), ProtocolType.Unspecified);
        _tcp = Connect(new IPEndPoint(IPAddress.Loopback, 0), ProtocolType.Tcp);
    }

    private Socket Connect(EndPoint at, ProtocolType protocol)
    {
        using var listener = new Socket(at.AddressFamily, SocketType.Stream, protocol);
        listener.Bind(at);
        listener.Listen();
        var near = new Socket(at.AddressFamily, SocketType.Stream, protocol);
        near.Connect(listener.LocalEndPoint!);
        Socket far = listener.Accept();
        if (protocol == ProtocolType.Tcp) near.NoDelay = far.NoDelay = true;
        _sockets.AddRange([near, far]);
        new Thread(() => Echo(far)) { IsBackground = true }.Start();
        return near;
    }

    private void Echo(Socket socket)
    {
        byte[] buffer = new byte[Bytes];
        try
        {
            while (Receive(socket, buffer)) socket.Send(buffer);
        }
        catch (Exception e) when (e is SocketException or ObjectDisposedException)
        {
            // The benchmark is over.
        }
    }

    [GlobalCleanup]
    public void Cleanup()
    {
        foreach (Socket socket in _sockets) socket.Dispose();
        File.Delete(_path);
    }

    [Benchmark(Baseline = true)]
    public bool Unix() => RoundTrip(_unix);

    [Benchmark]
    public bool Tcp() => RoundTrip(_tcp);

    private bool RoundTrip(Socket socket)
    {
        socket.Send(_message);
        return Receive(socket, _message) ? true : throw new InvalidOperationException("the other end is gone");
    }

    private static bool Receive(Socket socket, Span<byte> whole)
    {
        while (!whole.IsEmpty)
        {
            int count = socket.Receive(whole);
            if (count == 0) return false;
            whole = whole[count..];
        }
        return true;
    }
}
