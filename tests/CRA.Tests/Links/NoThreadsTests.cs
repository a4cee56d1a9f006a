using System.Collections.Concurrent;
using System.Net;
using System.Net.Sockets;
using Ambrosia.TestKit;
using CRA.Authentication;
using CRA.Links;

namespace CRA.Tests;

/// <summary>What links do where the system gives out no thread, and where a connection meets what nobody expected.</summary>
[Collection(AloneCollection.Name)]
public sealed class NoThreadsTests : IDisposable
{
    public void Dispose() => Threads.Refuses = null;

    /// <summary>Either pump alone may be the one that cannot be had; the traffic hears of the end once.</summary>
    [Theory]
    [InlineData("link-in")]
    [InlineData("link-out")]
    [InlineData("link-")]
    public void Run_WithoutAThread_EndsTheConnectionAndNothingElse(string refused)
    {
        using var links = new LoopbackLinks();
        (LinkConnection dialled, LinkConnection accepted) = links.Pair();
        var traffic = new QueueTraffic();
        Threads.Refuses = name => name.StartsWith(refused, StringComparison.Ordinal);
        dialled.Run(traffic);
        Deadline.Await(() => traffic.Why is not null, "the end of the connection");
        Assert.Equal("the system gives out no thread for it", traffic.Why);
        Threads.Refuses = null;
        accepted.Dispose();
        (dialled, accepted) = links.Pair();
        dialled.Dispose();
        accepted.Dispose();
    }

    [Fact]
    public void Start_OfAListenerWithoutAThread_WaitsForOne()
    {
        int tries = 0;
        Threads.Refuses = name => name.StartsWith("link-accept", StringComparison.Ordinal) && ++tries < 3;
        using var links = new LoopbackLinks();
        (LinkConnection dialled, LinkConnection accepted) = links.Pair();
        dialled.Dispose();
        accepted.Dispose();
        Assert.Equal(3, tries);
        Assert.Contains("no thread", links.Log.First(), StringComparison.Ordinal);
        Assert.Equal(2, links.Log.Count); // and one of the end
    }

    /// <summary>Certificates that cannot be had, and any other trouble of one connection, end that one.</summary>
    [Fact]
    public void Accept_ThatMeetsWhatNobodyExpected_DropsTheConnectionAndGoesOn()
    {
        var ours = new Authority();
        LinkCertificates certificates = ours.For("other");
        bool isBroken = true;
        using var links = new LoopbackLinks(LoopbackLinks.Settings with
        {
            Certificates = () => Volatile.Read(ref isBroken) ? throw new InvalidOperationException("not now") : certificates,
        });
        using (var stranger = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp))
        {
            stranger.Connect(IPAddress.Loopback, links.Port);
            Assert.Equal(0, Received(stranger));
        }
        Volatile.Write(ref isBroken, false);
        (LinkConnection dialled, LinkConnection accepted) = links.Pair(ours.Settings("source"));
        dialled.Dispose();
        accepted.Dispose();
    }

    /// <summary>A fault in the traffic is told to whoever made the link, which ends the process in its own way.</summary>
    [Fact]
    public void Pump_WhoseTrafficFails_TellsOfTheFault()
    {
        var faults = new ConcurrentQueue<string>();
        using var links = new LoopbackLinks(LoopbackLinks.Settings with
        {
            Faulted = (fault, thread) => faults.Enqueue($"{thread}: {fault.Message}"),
        });
        (LinkConnection dialled, LinkConnection accepted) = links.Pair(LoopbackLinks.Settings);
        dialled.Run(new QueueTraffic());
        accepted.Run(new FaultyTraffic(), "the other");
        dialled.Nudge();
        Deadline.Await(() => !faults.IsEmpty, "the fault");
        Assert.Equal("link-out the other: a fault of ours", faults.First());
        dialled.Dispose();
        accepted.Dispose();
    }

    private static int Received(Socket socket)
    {
        try
        {
            return socket.Receive(new byte[1]);
        }
        catch (SocketException)
        {
            return 0; // reset, which is an end, too
        }
    }

    private sealed class FaultyTraffic : ILinkTraffic
    {
        public int FrameBytesWanted => 0;

        public ReadOnlyMemory<byte> HeartbeatFrame => default;

        public FeedResult Feed(ReadOnlySpan<byte> bytes, bool drained, out int consumed)
        {
            consumed = bytes.Length;
            return FeedResult.Continue;
        }

        public void WaitForRoom(CancellationToken stop) { }

        public bool TryTake(out ReadOnlyMemory<byte> bytes) => throw new InvalidOperationException("a fault of ours");

        public void Taken(int bytes) { }

        public void Ended(string why) { }
    }
}
