using System.Net;
using System.Net.Sockets;
using Ambrosia.Protocol;
using Ambrosia.TestKit;
using CRA.Links;
using Microsoft.Extensions.Logging.Abstractions;

namespace CRA.Tests;

public sealed class LinkListenerTests
{
    private static readonly LinkSettings s_hasty = LoopbackLinks.Settings with { AuthenticationMax = TimeSpan.FromMilliseconds(200) };

    private static Socket Connect(int port, IPAddress? from = null)
    {
        var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp)
        {
            NoDelay = true, ReceiveTimeout = 60_000
        };
        if (from is not null) socket.Bind(new IPEndPoint(from, 0));
        socket.Connect(IPAddress.Loopback, port);
        return socket;
    }

    // Waits until the other side has closed (or reset) the connection; returns whether it has.
    private static bool IsClosed(Socket socket)
    {
        try
        {
            byte[] buffer = new byte[256];
            while (socket.Receive(buffer) > 0) { }
            return true;
        }
        catch (SocketException e)
        {
            return e.SocketErrorCode == SocketError.ConnectionReset;
        }
    }

    private static void AssertServes(LoopbackLinks links)
    {
        (LinkConnection dialled, LinkConnection accepted) = links.Pair();
        Assert.Equal(dialled.Seed, accepted.Seed);
        dialled.Dispose();
        accepted.Dispose();
    }

    [Fact]
    public void Dial_OfAListener_GivesBothTheSameSeed_AndEachTimeAnother()
    {
        using var links = new LoopbackLinks();
        var seeds = new HashSet<uint>();
        for (int i = 0; i < 20; i++)
        {
            (LinkConnection dialled, LinkConnection accepted) = links.Pair();
            Assert.True(dialled.IsDialler);
            Assert.False(accepted.IsDialler);
            Assert.Equal(links.Address, dialled.RemoteEndPoint.ToString());
            Assert.Equal(dialled.Seed, accepted.Seed);
            seeds.Add(dialled.Seed);
            dialled.Dispose();
            accepted.Dispose();
        }
        Assert.Equal(20, seeds.Count);
        Assert.Empty(links.Log);
    }

    [Theory]
    [InlineData(1)]
    [InlineData(7)]
    [InlineData(64 * 1024)]
    public void Garbage_IsClosedWithOneLine_AndTheListenerGoesOn(int bytes)
    {
        using var links = new LoopbackLinks();
        using Socket stranger = Connect(links.Port);
        byte[] garbage = new byte[bytes];
        new Random(bytes).NextBytes(garbage);
        garbage[0] = (byte)'G';
        try
        {
            stranger.Send(garbage);
        }
        catch (SocketException)
        {
            // Closed before all of it was sent.
        }
        Assert.True(IsClosed(stranger));
        string line = links.OneLogLine();
        Assert.Contains("P7.1", line, StringComparison.Ordinal);
        Assert.Contains(((IPEndPoint)stranger.LocalEndPoint!).ToString(), line, StringComparison.Ordinal);
        AssertServes(links);
        Assert.Single(links.Log);
    }

    [Fact]
    public void HalfAHello_ThenClosed_IsOneLine()
    {
        using var links = new LoopbackLinks();
        using (Socket stranger = Connect(links.Port)) stranger.Send("AMBRLINK half of it"u8);
        Assert.Contains("P7.3", links.OneLogLine(), StringComparison.Ordinal);
        AssertServes(links);
    }

    [Fact]
    public void HalfAHello_ThenSilence_IsClosedInTime_WhileOthersAreServed()
    {
        using var links = new LoopbackLinks(s_hasty);
        using Socket stranger = Connect(links.Port);
        stranger.Send("AMBRLINK half of it"u8);
        AssertServes(links);
        Assert.True(IsClosed(stranger));
        Assert.Contains("P7.3", links.OneLogLine(), StringComparison.Ordinal);
    }

    [Fact]
    public void SlowHello_ByteByByte_IsClosedAtItsDeadlineInVirtualTime()
    {
        var time = new ManualTime();
        using var links = new LoopbackLinks(LoopbackLinks.Settings with { Time = time });
        using Socket slow = Connect(links.Port);
        byte[] greeting = [.. "AMBRLINK"u8, .. new byte[32]];
        for (int i = 0; i < 38; i++)
        {
            slow.Send(greeting.AsSpan(i, 1));
            if (i == 0) AssertServes(links); // by now it is accepted, at time 0
            if (i > 0) time.Advance(TimeSpan.FromMilliseconds(100));
        }
        Assert.Empty(links.Log);
        time.Advance(TimeSpan.FromSeconds(1.4));
        Assert.True(IsClosed(slow));
        Assert.Contains("P7.3", links.OneLogLine(), StringComparison.Ordinal);
    }

    /// <summary>
    /// Somebody has bound the port of a replica that died, and passes whatever comes on to the replica that took its place.
    /// </summary>
    [Fact]
    public void Dial_OfAForeignPortThatForwards_IsAuthenticatedByNobody()
    {
        using var links = new LoopbackLinks();
        using var foreign = new FaultyRelay(1, new LinkFaults()) { Target = new IPEndPoint(IPAddress.Loopback, links.Port) };
        ProtocolViolation refused = Assert.Throws<ProtocolViolation>(
            () => LinkDialler.Dial(foreign.Address.ToString(), LoopbackLinks.Settings));
        Assert.Equal("P7.2", refused.Section);
        Assert.Contains(foreign.Address.ToString(), refused.Message, StringComparison.Ordinal);
        links.OneLogLine();
        Assert.False(links.HasAccepted);
        AssertServes(links);
    }

    [Fact]
    public void Dial_OfAnAdvertisedAddressThatForwards_IsAuthenticated()
    {
        using var forwarder = new FaultyRelay(1, new LinkFaults());
        using var links = new LoopbackLinks(advertised: forwarder.Address.ToString());
        forwarder.Target = new IPEndPoint(IPAddress.Loopback, links.Port);
        using LinkConnection dialled = LinkDialler.Dial(links.Listener.Address, LoopbackLinks.Settings);
        using LinkConnection accepted = links.Accepted();
        Assert.Equal(dialled.Seed, accepted.Seed);
    }

    [Fact]
    public void WrongSecret_IsRefusedByTheDialler()
    {
        using var links = new LoopbackLinks();
        LinkSettings wrong = LoopbackLinks.Settings with { Secret = LoopbackLinks.SecretOf(2) };
        Assert.Equal("P7.2", Assert.Throws<ProtocolViolation>(() => LinkDialler.Dial(links.Address, wrong)).Section);
        links.OneLogLine();
        AssertServes(links);
    }

    [Fact]
    public void WrongProof_IsRefusedByTheListener()
    {
        using var links = new LoopbackLinks();
        using Socket stranger = Connect(links.Port);
        stranger.Send([.. "AMBRLINK"u8, .. new byte[32]]);
        byte[] answer = new byte[64];
        for (int held = 0; held < answer.Length;) held += stranger.Receive(answer.AsSpan(held));
        stranger.Send(answer.AsSpan(32, 32));
        Assert.True(IsClosed(stranger));
        Assert.Contains("P7.2", links.OneLogLine(), StringComparison.Ordinal);
        Assert.False(links.HasAccepted);
    }

    [Fact]
    public void MoreUnauthenticatedThanAllowed_CloseTheOldest()
    {
        using var links = new LoopbackLinks(LoopbackLinks.Settings with { UnauthenticatedMax = 4 });
        Socket[] strangers = [.. Enumerable.Range(0, 6).Select(_ => Connect(links.Port))];
        Assert.True(IsClosed(strangers[0]));
        Assert.True(IsClosed(strangers[1]));
        Deadline.Await(() => links.Log.Count == 2, "two lines");
        AssertServes(links);
        foreach (Socket stranger in strangers) stranger.Dispose();
    }

    [Fact]
    public void MoreUnauthenticatedOfOneAddressThanAllowed_CloseItsOldest_AndNoneOfAnother()
    {
        using var links = new LoopbackLinks(LoopbackLinks.Settings with { UnauthenticatedPerAddressMax = 3 }, listenOn: "0.0.0.0:0");
        using Socket other = Connect(links.Port, IPAddress.Parse("127.0.0.2"));
        Socket[] strangers = [.. Enumerable.Range(0, 5).Select(_ => Connect(links.Port))];
        Assert.True(IsClosed(strangers[0]));
        Assert.True(IsClosed(strangers[1]));
        Deadline.Await(() => links.Log.Count == 2, "two lines");
        Assert.All(links.Log, static line => Assert.Contains("of its address", line, StringComparison.Ordinal));
        other.Send("AMBRLINK"u8);
        other.Send(new byte[32]);
        Assert.Equal(64, other.Receive(new byte[64])); // it was served meanwhile
        foreach (Socket stranger in strangers) stranger.Dispose();
    }

    // Each is closed, the operator's log gets a burst of lines and a count, and a peer that comes among them is served.
    [Fact]
    public void TenThousandConnections_LeaveTheListenerServing_AndALogOfBoundedLength()
    {
        int connections = Math.Max(1000, Ambrosia.TestKit.TestScale.Rounds(10_000));
        using var links = new LoopbackLinks();
        var held = new Queue<Socket>();
        for (int i = 0; i < connections; i++)
        {
            held.Enqueue(Connect(links.Port));
            if (held.Count > 300) held.Dequeue().Dispose();
            if (i % 500 == 0) AssertServesSoon(links);
        }
        AssertServesSoon(links);
        foreach (Socket socket in held) socket.Dispose();
        AssertServesSoon(links);
        Assert.InRange(links.Log.Count, 1, LogRateLimiter.BurstMax + 200);
    }

    // A dial that is pushed out by a flood is made again.
    private static void AssertServesSoon(LoopbackLinks links)
    {
        for (int attempt = 0; attempt < 20; attempt++)
        {
            try
            {
                AssertServes(links);
                return;
            }
            catch (LinkUnreachableException)
            {
            }
        }
        Assert.Fail("not served in 20 dials");
    }

    [Fact]
    public void MoreConnectionsThanAllowed_AreClosedUntilOneEnds()
    {
        using var links = new LoopbackLinks(LoopbackLinks.Settings with { ConnectionsMax = 1 });
        (LinkConnection first, LinkConnection firstAccepted) = links.Pair();
        using LinkConnection second = LinkDialler.Dial(links.Address, LoopbackLinks.Settings);
        Assert.Contains("1 connections already", links.OneLogLine(), StringComparison.Ordinal);
        Assert.False(links.HasAccepted);
        firstAccepted.Dispose();
        AssertServes(links);
        first.Dispose();
    }

    [Fact]
    public void AManyfoldFlood_LeavesTheListenerServing()
    {
        using var links = new LoopbackLinks(LoopbackLinks.Settings with { UnauthenticatedMax = 16 });
        Thread[] floods = [.. Enumerable.Range(0, 3).Select(seed => new Thread(() => Flood(links.Port, new Random(seed))))];
        foreach (Thread flood in floods) flood.Start();
        for (int i = 0; i < 20; i++)
        {
            try
            {
                AssertServes(links);
            }
            catch (LinkUnreachableException)
            {
                // Pushed out by the flood: the dialler dials again.
            }
        }
        foreach (Thread flood in floods) flood.Join();
        AssertServes(links);
    }

    private static void Flood(int port, Random random)
    {
        for (int i = 0; i < 150; i++)
        {
            try
            {
                using Socket socket = Connect(port);
                byte[] bytes = new byte[random.Next(100)];
                random.NextBytes(bytes);
                if (random.Next(3) == 0) "AMBRLINK"u8[..Math.Min(8, bytes.Length)].CopyTo(bytes);
                if (bytes.Length > 0) socket.Send(bytes);
                if (random.Next(2) == 0) socket.LingerState = new LingerOption(true, 0); // a reset
            }
            catch (SocketException)
            {
                // Closed while we sent.
            }
        }
    }

    [Fact]
    public void Listen_OnAPortInUse_SaysSo()
    {
        using var links = new LoopbackLinks();
        string message = Assert
            .Throws<LinkAddressException>(() => new LinkListener(links.Address, null, LoopbackLinks.Settings, _ => { }, NullLogger.Instance))
            .Message;
        Assert.Contains(links.Address, message, StringComparison.Ordinal);
    }

    [Fact]
    public void Dispose_ClosesUnauthenticated_AndTheAddressIsFreeAgain()
    {
        var links = new LoopbackLinks();
        string address = links.Address;
        using Socket stranger = Connect(links.Port);
        AssertServes(links); // the stranger came first, so it is accepted by now
        links.Dispose();
        Assert.True(IsClosed(stranger));
        new LinkListener(address, null, LoopbackLinks.Settings, _ => { }, NullLogger.Instance).Dispose();
        new LoopbackLinks(start: false).Dispose();
    }
}
