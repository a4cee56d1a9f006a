using System.Net;
using System.Net.Sockets;
using Ambrosia.Protocol.Frames;
using CRA.Links;

namespace CRA.Tests;

/// <summary>
/// Measures what an unauthenticated TLS connection costs in the memory of the process, since most of it is outside of the garbage
/// collector.
/// </summary>
[Collection(AloneCollection.Name)]
public sealed class TlsUnauthenticatedMemoryTests
{
    private static readonly Authority s_ours = new();

    // Sends a whole ClientHello and then nothing, many times (P7.3).
    [Fact]
    public void Acceptor_OfManyHalfHandshakes_GivesEachLessThan64KiB()
    {
        const int First = 100, More = 300;
        using var links = new LoopbackLinks(
            s_ours.Settings("ledger") with
            {
                UnauthenticatedMax = 1000, UnauthenticatedPerAddressMax = 1000, AuthenticationMax = TimeSpan.FromMinutes(5)
            });
        byte[] hello = ClientHello();
        var sockets = new List<Socket>();
        HalfHandshakes(First, links.Port, hello, sockets); // what is made once is made
        long before = Resident();
        HalfHandshakes(More, links.Port, hello, sockets);
        long each = (Resident() - before) / More;
        foreach (Socket socket in sockets) socket.Dispose();
        Assert.InRange(each, long.MinValue, 64 * 1024);
    }

    // Each is in the middle of its handshake when this returns.
    private static void HalfHandshakes(int count, int port, byte[] hello, List<Socket> sockets)
    {
        byte[] received = new byte[1];
        for (int i = 0; i < count; i++)
        {
            var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp) { ReceiveTimeout = 60_000 };
            sockets.Add(socket);
            socket.Connect(IPAddress.Loopback, port);
            socket.Send(hello);
            Assert.Equal(1, socket.Receive(received)); // of the server's flight
        }
        GC.Collect();
    }

    private static long Resident()
    {
        string line = File.ReadLines("/proc/self/status").First(static l => l.StartsWith("VmRSS:", StringComparison.Ordinal));
        return long.Parse(line.Split((char[]?)null, StringSplitOptions.RemoveEmptyEntries)[1],
            System.Globalization.CultureInfo.InvariantCulture) << 10;
    }

    // The first flight of a real client, taken from the wire.
    private static byte[] ClientHello()
    {
        using var catcher = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        catcher.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        catcher.Listen();
        string address = catcher.LocalEndPoint!.ToString()!;
        var dial = new Thread(
            () =>
                Record.Exception(
                    () =>
                        LinkDialler.Dial(address, s_ours.Settings("source") with { AuthenticationMax = TimeSpan.FromSeconds(5) },
                            peer: "ledger")));
        dial.Start();
        byte[] bytes = new byte[16 * 1024];
        int count;
        using (Socket caught = catcher.Accept()) count = caught.Receive(bytes);
        dial.Join();
        Assert.Equal(0x16, bytes[0]);
        return bytes[..count];
    }
}
