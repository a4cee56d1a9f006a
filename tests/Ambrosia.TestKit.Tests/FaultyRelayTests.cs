using System.Net;
using System.Net.Sockets;

namespace Ambrosia.TestKit.Tests;

/// <summary>The relay does what it says and no more: what arrives is what was sent, or the beginning of it.</summary>
public sealed class FaultyRelayTests : IDisposable
{
    private const int SentBytes = 100_000;
    private readonly byte[] _sent = new byte[SentBytes];
    private readonly Socket _listener = new(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);

    public FaultyRelayTests()
    {
        new Random(1).NextBytes(_sent);
        _listener.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        _listener.Listen();
    }

    private FaultyRelay Relay(LinkFaults faults) => new(7, faults) { Target = (IPEndPoint)_listener.LocalEndPoint! };

    private (Socket Caller, Socket Callee) Connect(FaultyRelay relay)
    {
        var caller = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp)
        {
            SendTimeout = 60_000, ReceiveTimeout = 60_000
        };
        caller.Connect(relay.Address);
        Socket callee = _listener.Accept();
        callee.ReceiveTimeout = 60_000;
        return (caller, callee);
    }

    /// <summary>What arrives until the end of the connection.</summary>
    private byte[] Through(FaultyRelay relay)
    {
        (Socket caller, Socket callee) = Connect(relay);
        using (caller)
        using (callee)
        {
            var sender = new Thread(() =>
            {
                try
                {
                    caller.Send(_sent);
                    caller.Shutdown(SocketShutdown.Send);
                }
                catch (SocketException)
                {
                    // It was cut.
                }
            }) { IsBackground = true };
            sender.Start();
            var received = new List<byte>();
            byte[] bytes = new byte[4096];
            try
            {
                for (int count; (count = callee.Receive(bytes)) > 0;) received.AddRange(bytes.AsSpan(0, count));
            }
            catch (SocketException e) when (e.SocketErrorCode == SocketError.ConnectionReset)
            {
                // A cut with a reset.
            }
            sender.Join(); // before its socket is closed under it: it may still be about to shut down
            return [.. received];
        }
    }

    [Fact]
    public void Relay_SplittingDelayingAndStalling_PassesEveryByteInOrder()
    {
        using FaultyRelay split = Relay(new LinkFaults { PieceBytesMax = 1 });
        Assert.Equal(_sent, Through(split));
        using FaultyRelay slow = Relay(
            new LinkFaults
            {
                PieceBytesMax = 10_000, DelayMax = TimeSpan.FromMilliseconds(2), StallWithinBytes = 30_000,
                StallFor = TimeSpan.FromMilliseconds(1)
            });
        Assert.Equal(_sent, Through(slow));
        Assert.True(slow.Strikes >= 3);
        Assert.Equal(2 * SentBytes, slow.Passed + split.Passed);
    }

    [Fact]
    public void Relay_Cutting_PassesABeginningAndLeavesOffAtItsBound()
    {
        using FaultyRelay relay = Relay(new LinkFaults { CutWithinBytes = 50_000, StrikesMax = 5 });
        var lengths = new HashSet<int>();
        for (int i = 0; i < 5; i++)
        {
            byte[] received = Through(relay);
            Assert.True(received.Length < SentBytes);
            Assert.Equal(_sent[..received.Length], received);
            lengths.Add(received.Length);
        }
        Assert.True(lengths.Count > 1, "always cut at the same place");
        Assert.Equal(_sent, Through(relay));
        Assert.Equal((5, 6), (relay.Strikes, relay.Connections));
    }

    [Fact]
    public void Relay_HalfOpen_TellsNeitherSide()
    {
        using FaultyRelay relay = Relay(new LinkFaults());
        (Socket caller, Socket callee) = Connect(relay);
        using (caller)
        using (callee)
        {
            caller.Send([1]);
            Assert.Equal(1, callee.Receive(new byte[10]));
            relay.HalfOpenAll();
            caller.Send(_sent.AsSpan(0, 1000));
            caller.Dispose();
            // what comes later is not harmed, and by then the end above would have come through
            (Socket after, Socket afterCallee) = Connect(relay);
            using (after)
            using (afterCallee)
            {
                after.Send([2]);
                Assert.Equal(1, afterCallee.Receive(new byte[10]));
            }
            Assert.False(callee.Poll(100_000, SelectMode.SelectRead), "an end or a byte came through");
        }
    }

    public void Dispose() => _listener.Dispose();
}
