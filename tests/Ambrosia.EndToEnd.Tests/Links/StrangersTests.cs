using System.Net;
using System.Net.Sockets;
using Ambrosia.Protocol.Frames;
using Ambrosia.TestKit;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>Strangers in numbers, and slow ones, at the link port of a real coordinator at work.</summary>
public sealed class StrangersTests(ITestOutputHelper output)
{
    private const int ConnectionsOfARelease = 10_000, ConnectionsMin = 1_000, Calls = 2_000, HeldMax = 600, Addresses = 8, DribbleMs = 100;
    private const long GrowthBytesMax = 64L << 20;

    /// <summary>They stay as long as they are let; meanwhile the source is killed and finds its way back through them.</summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Ledger_UnderAFloodOfConnections_ServesItsPeersAndWritesAFewLines(bool withCertificates)
    {
        var chance = new Chance();
        int connections = Math.Max(ConnectionsMin, TestScale.Rounds(ConnectionsOfARelease));
        using var cluster = new Cluster();
        (Replica source, Replica ledger) = cluster.Pair(Calls);
        source.Settings["UNTIL"] = cluster.Until;
        if (withCertificates) foreach (Replica replica in new[] { source, ledger }) Certified.Give(cluster, replica, Certified.Ours);
        cluster.Run(chance.Again(nameof(StrangersTests)), () =>
        {
            ledger.Start().AwaitReady();
            source.Start().AwaitReady();
            IPEndPoint door = StartTests.AddressOf(cluster, "ledger");
            long before = ledger.ResidentBytes();
            using (var flood = new Flood(door, chance))
            {
                flood.Add(connections / 2);
                source.KillCoordinator();
                source.Start().AwaitReady();
                ulong taken = Taken(source);
                flood.Add(connections / 2);
                Cluster.Await("calls through the flood", () => { flood.Add(10); return Taken(source) > taken; });
                output.WriteLine($"{flood.Made} connections");
            }
            int lines = ledger.Lines.From(0).Count(static line => line.StartsWith("Link ", StringComparison.Ordinal));
            Assert.InRange(lines, 1, connections / 4);
            Assert.True(ledger.ResidentBytes() - before < GrowthBytesMax,
                $"{before >> 20} MiB before, {ledger.ResidentBytes() >> 20} MiB after");
            File.Create(cluster.Until).Dispose();
            Cluster.AssertEqual(source, Calls);
            cluster.AssertNoneGaveUp();
        });
    }

    /// <summary>
    /// P7.3: a byte now and then keeps nobody in, neither before the proof nor, for one who knows the secret, before its hello is whole.
    /// </summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Stranger_WhoseBytesDribble_IsClosedWithALine(bool knowsTheSecret)
    {
        var chance = new Chance();
        using var cluster = new Cluster();
        Replica hub = cluster.Add("hub", "hub");
        cluster.Run(chance.Again(nameof(StrangersTests)), () =>
        {
            hub.Start().AwaitReady();
            var peer = new LeanPeer(cluster, "hub", "peer", 0, chance);
            using RawLink? known = knowsTheSecret ? peer.Dial() : null;
            using var unknown = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
            if (known is null) unknown.Connect(StartTests.AddressOf(cluster, "hub")); // a silent one beside it would have a line of its own
            Socket socket = known?.Socket ?? unknown;
            byte[] bytes = known is null ? [.. "AMBRLINK"u8, .. chance.Bytes(500)] : Whole(known, peer.NextHello());
            int sent = 0;
            bool ended = false;
            for (; sent < bytes.Length && !ended; sent++)
            {
                ended = Record.Exception(() => socket.Send(bytes.AsSpan(sent, 1))) is not null
                    || (socket.Poll(TimeSpan.FromMilliseconds(DribbleMs), SelectMode.SelectRead) && IsOver(socket));
            }
            Assert.True(ended && sent < bytes.Length, $"{sent} of {bytes.Length} bytes were waited for");
            hub.AwaitLine("line about it", static line => line.Contains("(P7.3)", StringComparison.Ordinal));
            Assert.Single(hub.Lines.From(0), static line => line.StartsWith("link", StringComparison.OrdinalIgnoreCase));
            peer.Make(10);
            using RawLink served = peer.Dial();
            peer.Open(served, peer.NextHello());
            served.Send(FrameType.Run, peer.Run(1, 10));
            ConnectionOrderTests.TakeUntil(peer, served, 10);
            cluster.AssertNoneGaveUp();
        });
    }

    private static byte[] Whole(RawLink link, Hello hello)
    {
        var frame = new System.Buffers.ArrayBufferWriter<byte>();
        FrameWriter.Write(frame, hello, link.Seed, checkPayload: true);
        return frame.WrittenSpan.ToArray();
    }

    private static bool IsOver(Socket socket)
    {
        byte[] received = new byte[256];
        try
        {
            return socket.Receive(received) == 0;
        }
        catch (SocketException)
        {
            return true;
        }
    }

    private static ulong Taken(Replica source) =>
        (ulong?)source.Status()?["outboxes"]?.AsArray().FirstOrDefault(static box => (string?)box!["to"] == "ledger")?["trimmed"] ?? 0;

    /// <summary>
    /// Connections from several addresses that say nothing, a little, or nonsense; the last few hundred are held as
    /// long as the other side does.
    /// </summary>
    private sealed class Flood(IPEndPoint door, Chance chance) : IDisposable
    {
        private readonly Queue<Socket> _held = new();

        public int Made { get; private set; }

        public void Add(int count)
        {
            for (int i = 0; i < count; i++)
            {
                var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp)
                {
                    LingerState = new LingerOption(true, 0)
                };
                _held.Enqueue(socket);
                try
                {
                    socket.Bind(new IPEndPoint(new IPAddress([127, 0, 0, (byte)(1 + Made % Addresses)]), 0));
                    socket.Connect(door);
                    socket.Send(chance.Below(3) switch { 0 => [], 1 => [.. "AMBRLINK"u8, .. chance.Bytes(7)], _ => chance.Bytes(100) });
                }
                catch (SocketException)
                {
                    // It was closed before it had said anything.
                }
                Made++;
                while (_held.Count > HeldMax) _held.Dequeue().Dispose();
            }
        }

        public void Dispose()
        {
            foreach (Socket socket in _held) socket.Dispose();
        }
    }
}
