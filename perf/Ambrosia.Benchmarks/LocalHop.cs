using System.Net;
using System.Net.Sockets;
using BenchmarkDotNet.Attributes;

namespace Ambrosia.Benchmarks;

/// <summary>The hop between app and coordinator: blocking sockets with a thread at the other end that sends back what it gets.</summary>
[MemoryDiagnoser]
public class LocalHop
{
    private readonly string path = Path.Combine(Path.GetTempPath(), $"ambrosia-bench-{Environment.ProcessId}.sock");
    private readonly List<Socket> sockets = [];
    private byte[] message = [];
    private Socket unix = null!, tcp = null!;

    [Params(16, 65536)]
    public int Bytes { get; set; }

    [GlobalSetup]
    public void Setup()
    {
        message = new byte[Bytes];
        File.Delete(path);
        unix = Connect(new UnixDomainSocketEndPoint(path), ProtocolType.Unspecified);
        tcp = Connect(new IPEndPoint(IPAddress.Loopback, 0), ProtocolType.Tcp);
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
        sockets.AddRange([near, far]);
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
        foreach (Socket socket in sockets) socket.Dispose();
        File.Delete(path);
    }

    [Benchmark(Baseline = true)]
    public bool Unix() => RoundTrip(unix);

    [Benchmark]
    public bool Tcp() => RoundTrip(tcp);

    private bool RoundTrip(Socket socket)
    {
        socket.Send(message);
        return Receive(socket, message) ? true : throw new InvalidOperationException("the other end is gone");
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
