using System.Net;
using System.Net.Sockets;
using Ambrosia.Protocol.Frames;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>
/// A hundred peers are where the catalog says, and dead: who calls them is let in and never answered, so that each call lasts as long as it
/// may. One that lives is reached all the same.
/// </summary>
public sealed class DeadPeersTests
{
    private const int Dead = 100, Calls = 50;

    [Fact]
    public void Hub_WithAHundredDeadPeers_StillCallsTheOneThatLives()
    {
        var chance = new Chance();
        using var cluster = new Cluster();
        using var silence = new Silence();
        Replica hub = cluster.Add("hub", "hub"), live = cluster.Add("slow", "ledger");
        cluster.Run(chance.Again(nameof(DeadPeersTests)), () =>
        {
            hub.Start().AwaitReady();
            for (int i = 0; i < Dead; i++)
            {
                var peer = new LeanPeer(cluster, "hub", $"dead-{i}", i, chance);
                Publish(cluster, peer.Name, silence.Address);
                using RawLink link = peer.Dial();
                peer.Open(link, peer.NextHello()); // from now on the hub knows it, and calls it
            }
            Cluster.Await("calls to the dead", () => silence.Callers >= Dead / 2);
            var busy = new LeanPeer(cluster, "hub", "busy", Dead, chance);
            busy.Make(Calls);
            using RawLink asks = busy.Dial();
            busy.Open(asks, busy.NextHello());
            asks.Send(FrameType.Run, busy.Run(1, Calls));
            live.Start(); // it knows nobody yet: it is the hub that must call
            Cluster.Await("all calls at the one that lives", () => ConnectionOrderTests.Trimmed(hub, "slow") == Calls);
            Cluster.Await("every dead one was called", () => silence.Callers >= Dead);
            cluster.AssertNoneGaveUp();
        });
    }

    private static void Publish(Cluster cluster, string name, EndPoint address)
    {
        string entry =
            $$"""{"instance":"{{name}}","shard":0,"uuid":"{{Guid.NewGuid()}}","log":"/nowhere","epoch":1,"replicas":[{"name":"r0","address":"{{address}}","role":"primary","epoch":1}]}""";
        string file = Path.Combine(cluster.Catalog, $"{name}.1");
        File.WriteAllText(file, entry);
        File.SetUnixFileMode(file, UnixFileMode.UserRead | UnixFileMode.UserWrite);
    }

    /// <summary>Takes every connection, keeps it, and says nothing.</summary>
    private sealed class Silence : IDisposable
    {
        private readonly Socket _door = new(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        private readonly List<Socket> _callers = [];

        public Silence()
        {
            _door.Bind(new IPEndPoint(IPAddress.Loopback, 0));
            _door.Listen();
            new Thread(Accept) { IsBackground = true, Name = "silence" }.Start();
        }

        public EndPoint Address => _door.LocalEndPoint!;

        public int Callers { get { lock (_callers) return _callers.Count; } }

        private void Accept()
        {
            try
            {
                while (true)
                {
                    Socket caller = _door.Accept();
                    lock (_callers) _callers.Add(caller);
                }
            }
            catch (Exception e) when (e is SocketException or ObjectDisposedException)
            {
                // Disposed of.
            }
        }

        public void Dispose()
        {
            _door.Dispose();
            lock (_callers)
                foreach (Socket caller in _callers) caller.Dispose();
        }
    }
}
