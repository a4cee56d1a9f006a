using System.Net;
using System.Net.Sockets;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using CRA.Authentication;
using CRA.Catalog;
using Xunit.Abstractions;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>
/// A coordinator with a thousand peers that have nothing to say: what each costs it, and that the one who has is not held up.
/// </summary>
public sealed class IdlePeersTests(ITestOutputHelper output) : IDisposable
{
    private const int Peers = 1_000, Calls = 2_000;

    /// <summary>The aim is 64 KiB; what a garbage collector and an allocator do beside it is not the peer's.</summary>
    private const long PeerBytesMax = 96 << 10;

    private readonly Cluster _cluster = new();
    private readonly Chance _chance = new();
    private readonly List<(Socket Socket, byte[] Heartbeat)> _peers = [];
    private readonly byte[] _received = new byte[8192];
    private volatile bool _stopped;
    private volatile SocketException? _lost;

    public void Dispose()
    {
        _stopped = true;
        foreach ((Socket socket, _) in _peers) socket.Dispose();
        _cluster.Dispose();
    }

    [Fact]
    public void Ledger_WithAThousandIdlePeers_CostsLittleAndServesTheBusyOne()
    {
        (Replica source, Replica ledger) = _cluster.Pair(Calls);
        ledger.Settings["DOTNET_GCgen0size"] = "0x200000"; // so that garbage is not taken for what peers keep
        _cluster.Run(_chance.Again(nameof(IdlePeersTests)), () =>
        {
            ledger.Start();
            ledger.AwaitReady();
            IPEndPoint address = StartTests.AddressOf(_cluster, "ledger");
            byte[] secret = File.ReadAllBytes(Path.Combine(_cluster.Root, "catalog", DirectoryCatalog.SecretName));
            Connect(address, secret, "warm-up"); // what is made once a process is made
            long before = ledger.ResidentBytes();
            var alive = new Thread(KeepAlive) { IsBackground = true, Name = "idle peers" };
            alive.Start();
            for (int i = 0; i < Peers; i++) Connect(address, secret, $"idle-{i}");
            source.Start();
            Cluster.AssertEqual(source, Calls);
            long each = (ledger.ResidentBytes() - before) / Peers;
            output.WriteLine($"{each} bytes of resident memory for each of {Peers} idle peers");
            Assert.DoesNotContain(ledger.Lines.From(0), static line => line.Contains(": lost: ", StringComparison.Ordinal));
            Assert.Null(_lost);
            Assert.True(each <= PeerBytesMax, $"{each} bytes for each idle peer");
            _stopped = true;
            alive.Join();
            _cluster.AssertNoneGaveUp();
        });
    }

    private void Connect(IPEndPoint address, byte[] secret, string name)
    {
        var link = new RawLink(address, secret, _chance.Bytes(LinkAuthentication.NonceBytes));
        link.Send(
            new Hello(1, 1, Guid.NewGuid(), new InstanceId(name), "r0", new Epoch(1), 1, "ledger", Guid.Empty, new Epoch(0), 0, 0, 0,
                new Epoch(0), 0, 1 << 20));
        link.Await(FrameType.Hello);
        link.Socket.Send(link.Empty(FrameType.Ready));
        lock (_peers) _peers.Add((link.Socket, link.Empty(FrameType.Heartbeat)));
    }

    /// <summary>A heartbeat to each about twice a second; what comes is read away.</summary>
    private void KeepAlive()
    {
        try
        {
            while (!_stopped) KeepAliveOnce();
        }
        catch (SocketException lost) // it fails the test, and not the tests beside it
        {
            _lost = lost;
        }
    }

    private void KeepAliveOnce()
    {
        (Socket, byte[])[] all;
        lock (_peers) all = [.. _peers];
        foreach ((Socket socket, byte[] heartbeat) in all)
        {
            if (_stopped) return;
            socket.Send(heartbeat);
            while (socket.Available > 0) socket.Receive(_received);
        }
        for (int i = 0; i < 50 && !_stopped; i++) Thread.Sleep(10);
    }
}
