using System.Net;
using System.Net.Sockets;
using Ambrosia.TestKit;
using CRA.Authentication;
using CRA.Links;

namespace CRA.Tests;

public sealed class LinkConnectionTests
{
    // Heartbeats after 20 ms, dead after 400 ms: the tests wait for conditions, not for seconds.
    private static readonly LinkSettings s_quick = LoopbackLinks.Settings with
    {
        HeartbeatAfter = TimeSpan.FromMilliseconds(20), DeadAfter = TimeSpan.FromMilliseconds(400)
    };

    private static LinkSettings With(LinkSettings settings, bool throughTls) =>
        throughTls ? settings with { Certificates = new Authority().Settings("other").Certificates } : settings;

    private static readonly LinkSettings s_silent = LoopbackLinks.Settings with
    {
        HeartbeatAfter = TimeSpan.FromHours(1), DeadAfter = TimeSpan.FromHours(1)
    };

    private static void AwaitEnd(params QueueTraffic[] traffics)
    {
        foreach (QueueTraffic traffic in traffics) Deadline.Await(() => traffic.EndedCount > 0, "an end");
        Assert.All(traffics, traffic => Assert.Equal(1, traffic.EndedCount));
        Assert.All(traffics, traffic => Assert.Null(traffic.Fault));
    }

    private static (QueueTraffic Dialled, QueueTraffic Accepted, LinkConnection DialledLink, LinkConnection AcceptedLink) Run(
        LoopbackLinks links, QueueTraffic dialled, QueueTraffic accepted, LinkSettings settings)
    {
        (LinkConnection a, LinkConnection b) = links.Pair(settings);
        a.Run(dialled);
        b.Run(accepted);
        return (dialled, accepted, a, b);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void IdleLink_WithHeartbeats_StaysAlive_AndWithoutThemDies(bool throughTls)
    {
        LinkSettings settings = With(s_quick, throughTls);
        using var links = new LoopbackLinks(settings);
        var dialled = new QueueTraffic { HeartbeatFrame = new byte[] { 1, 2 } };
        var accepted = new QueueTraffic { HeartbeatFrame = new byte[] { 3 } };
        Run(links, dialled, accepted, settings);
        Deadline.Await(() => dialled.ReceivedBytes >= 40 && accepted.ReceivedBytes >= 80, "heartbeats for twice the time of death");
        Assert.Equal((0, 0), (dialled.EndedCount, accepted.EndedCount));
        Assert.Equal([1, 2, 1, 2], accepted.TakeReceived()[..4]);
        accepted.HeartbeatFrame = default;
        AwaitEnd(dialled, accepted);
        Assert.Contains("P6.9", dialled.Why, StringComparison.Ordinal);
    }

    [Fact]
    public void Accepted_WhenFramesNeverBegin_EndsWhenTheDeadlineSinceTheAcceptIsOver()
    {
        var time = new ManualTime();
        using var links = new LoopbackLinks(LoopbackLinks.Settings with { Time = time, DeadAfter = TimeSpan.FromSeconds(5) });
        using LinkConnection dialled = LinkDialler.Dial(links.Address, LoopbackLinks.Settings);
        LinkConnection accepted = links.Accepted();
        time.Advance(TimeSpan.FromSeconds(5));
        var traffic = new QueueTraffic();
        accepted.Run(traffic);
        AwaitEnd(traffic);
        Assert.Contains("P6.9", traffic.Why, StringComparison.Ordinal);
    }

    // Bytes that come one by one and never make a frame keep nothing alive (P7.3).
    [Fact]
    public void Accepted_WhoseFirstFrameDribbles_EndsWhenTheDeadlineSinceTheAcceptIsOver()
    {
        var time = new ManualTime();
        using var links = new LoopbackLinks(LoopbackLinks.Settings with { Time = time, DeadAfter = TimeSpan.FromSeconds(5) });
        using Socket slow = Authenticated(links.Port);
        using var fed = new AutoResetEvent(false);
        var traffic = new QueueTraffic
        {
            OnFeed = (ReadOnlySpan<byte> _, out int consumed) =>
            {
                consumed = 0;
                fed.Set();
                return FeedResult.Continue;
            },
        };
        links.Accepted().Run(traffic);
        for (int second = 0; second < 6 && traffic.EndedCount == 0; second++)
        {
            time.Advance(TimeSpan.FromSeconds(1));
            slow.Send([1]);
            WaitHandle.WaitAny([fed], 1000);
        }
        AwaitEnd(traffic);
        Assert.Contains("no whole frame within 5 s (P7.3)", traffic.Why, StringComparison.Ordinal);
    }

    [Fact]
    public void Feed_ThatBreaksTheProtocol_SendsTheLastWordsAndCloses()
    {
        using var links = new LoopbackLinks(s_silent);
        QueueTraffic? accepted = null;
        accepted = new QueueTraffic
        {
            OnFeed = (ReadOnlySpan<byte> bytes, out int consumed) =>
            {
                accepted!.Queue("goodbye"u8.ToArray());
                return QueueTraffic.Violate(bytes, out consumed);
            },
        };
        var dialled = new QueueTraffic();
        // More than the acceptor reads: a plain close would reset the connection, and the goodbye would be lost.
        for (int i = 0; i < 200; i++) dialled.Queue(new byte[100_000]);
        Run(links, dialled, accepted, s_silent);
        AwaitEnd(dialled, accepted);
        Assert.Contains("P2.1", accepted.Why, StringComparison.Ordinal);
        Assert.Equal("goodbye"u8.ToArray(), dialled.TakeReceived());
    }

    [Fact]
    public void LastWords_ToOneThatIsStillSending_AreFollowedByAnOrderlyEnd()
    {
        using var links = new LoopbackLinks(s_silent);
        using Socket peer = Authenticated(links.Port);
        QueueTraffic? accepted = null;
        accepted = new QueueTraffic
        {
            OnFeed = (ReadOnlySpan<byte> bytes, out int consumed) =>
            {
                accepted!.Queue("goodbye"u8.ToArray());
                return QueueTraffic.Violate(bytes, out consumed);
            },
        };
        links.Accepted().Run(accepted);
        peer.Send(new byte[8_000_000]); // nothing of it is answered with a reset
        byte[] received = new byte[100];
        int held = 0;
        for (int count; (count = peer.Receive(received.AsSpan(held))) > 0;) held += count;
        Assert.Equal("goodbye"u8, received.AsSpan(0, held));
        peer.Dispose();
        AwaitEnd(accepted);
    }

    private static Socket Authenticated(int port)
    {
        var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp) { ReceiveTimeout = 60_000 };
        socket.Connect(IPAddress.Loopback, port);
        var dialler = LinkAuthentication.Dialler(LoopbackLinks.SecretOf(1), new byte[32], $"127.0.0.1:{port}");
        byte[] reply = new byte[64];
        dialler.Feed([], out _, reply, out int replyBytes);
        socket.Send(reply.AsSpan(0, replyBytes));
        while (!dialler.Done)
        {
            byte[] answer = new byte[dialler.BytesWanted];
            int count = socket.Receive(answer);
            dialler.Feed(answer.AsSpan(0, count), out _, reply, out replyBytes);
        }
        socket.Send(reply.AsSpan(0, replyBytes));
        return socket;
    }

    [Fact]
    public void Feed_ThatAnswersClose_SendsTheLastWordsAndCloses()
    {
        using var links = new LoopbackLinks(s_silent);
        QueueTraffic? accepted = null;
        accepted = new QueueTraffic
        {
            OnFeed = (ReadOnlySpan<byte> bytes, out int consumed) =>
            {
                consumed = bytes.Length;
                accepted!.Queue("goodbye"u8.ToArray());
                return FeedResult.Close;
            },
        };
        (QueueTraffic dialled, _, LinkConnection link, _) = Run(links, new QueueTraffic(), accepted, s_silent);
        dialled.Queue(1);
        link.Wake();
        AwaitEnd(dialled, accepted);
        Assert.Equal("goodbye"u8.ToArray(), dialled.TakeReceived());
        Assert.Equal("the other side closed the connection", dialled.Why);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void CloseAfterSending_FromOutside_SendsAllThatIsQueued(bool throughTls)
    {
        LinkSettings settings = With(s_silent, throughTls);
        using var links = new LoopbackLinks(settings);
        (QueueTraffic dialled, QueueTraffic accepted, LinkConnection link,
            _) = Run(links, new QueueTraffic(), new QueueTraffic(), settings);
        for (int i = 0; i < 100; i++) dialled.Queue(new byte[50_000]);
        link.CloseAfterSending("stopping");
        AwaitEnd(dialled, accepted);
        Assert.Equal("stopping", dialled.Why);
        Assert.Equal(5_000_000, accepted.ReceivedBytes);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void CloseAfterSending_ToOneThatNeverReads_EndsNevertheless(bool throughTls)
    {
        LinkSettings settings = With(s_quick, throughTls);
        using var links = new LoopbackLinks(settings);
        using var release = new ManualResetEventSlim();
        var stuck = new QueueTraffic
        {
            OnFeed = (ReadOnlySpan<byte> bytes, out int consumed) =>
            {
                consumed = 0;
                release.Wait();
                return FeedResult.Close;
            },
        };
        (QueueTraffic dialled, _, LinkConnection link, _) = Run(links, new QueueTraffic(), stuck, settings);
        for (int i = 0; i < 400; i++) dialled.Queue(new byte[100_000]);
        link.Wake();
        link.CloseAfterSending("stopping");
        AwaitEnd(dialled);
        release.Set();
        AwaitEnd(stuck);
    }

    [Fact]
    public void NoRoom_IsWaitedFor_AndTheRestIsFedAgain()
    {
        using var links = new LoopbackLinks(s_silent);
        int refusals = 3;
        var seen = new List<byte>();
        var accepted = new QueueTraffic
        {
            OnFeed = (ReadOnlySpan<byte> bytes, out int consumed) =>
            {
                consumed = Math.Min(1, bytes.Length);
                lock (seen) seen.AddRange(bytes[..consumed]);
                return bytes.Length > consumed ? FeedResult.NoRoom : FeedResult.Continue;
            },
            OnWait = _ => Interlocked.Decrement(ref refusals),
        };
        (QueueTraffic dialled, _, LinkConnection link, _) = Run(links, new QueueTraffic(), accepted, s_silent);
        dialled.Queue(1, 2, 3, 4);
        link.Wake();
        Deadline.Await(() => { lock (seen) return seen.Count == 4; }, "all bytes");
        Assert.Equal([1, 2, 3, 4], seen);
        Assert.Equal(0, refusals);
        link.Close("enough");
        AwaitEnd(dialled, accepted);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Close_WhileThereIsNoRoom_EndsTheWait(bool afterSending)
    {
        using var links = new LoopbackLinks(s_silent);
        using var waiting = new ManualResetEventSlim();
        var accepted = new QueueTraffic
        {
            OnFeed = (ReadOnlySpan<byte> _, out int consumed) =>
            {
                consumed = 0;
                return FeedResult.NoRoom;
            },
            OnWait = stop =>
            {
                waiting.Set();
                stop.WaitHandle.WaitOne();
                stop.ThrowIfCancellationRequested();
            },
        };
        (QueueTraffic dialled, _, LinkConnection link, LinkConnection acceptedLink) = Run(links, new QueueTraffic(), accepted, s_silent);
        dialled.Queue(1);
        link.Wake();
        Assert.True(waiting.Wait(Deadline.Generous));
        if (afterSending) acceptedLink.CloseAfterSending("stop");
        else acceptedLink.Close("stop");
        AwaitEnd(dialled, accepted);
        Assert.Equal("stop", accepted.Why);
    }

    [Fact]
    public void CloseAfterSending_WithBothPumpsBlocked_EndsNevertheless()
    {
        using var links = new LoopbackLinks(s_silent);
        using Socket peer = Authenticated(links.Port); // sends one byte and never reads
        using var waiting = new ManualResetEventSlim();
        var accepted = new QueueTraffic
        {
            OnFeed = (ReadOnlySpan<byte> _, out int consumed) =>
            {
                consumed = 0;
                return FeedResult.NoRoom;
            },
            OnWait = stop =>
            {
                waiting.Set();
                stop.WaitHandle.WaitOne();
                stop.ThrowIfCancellationRequested();
            },
        };
        for (int i = 0; i < 400; i++) accepted.Queue(new byte[100_000]);
        LinkConnection link = links.Accepted();
        link.Run(accepted);
        peer.Send([1]);
        Assert.True(waiting.Wait(Deadline.Generous));
        Deadline.Await(() => accepted.TakenBytes > 0, "the out thread at work");
        link.CloseAfterSending("stop");
        AwaitEnd(accepted);
        Assert.Equal("stop", accepted.Why);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Close_WhileTheOutThreadIsBlocked_EndsTheSend(bool throughTls)
    {
        LinkSettings settings = With(s_silent, throughTls);
        using var links = new LoopbackLinks(settings);
        (LinkConnection dialled, LinkConnection accepted) = links.Pair(settings); // the accepted one is never run: nobody reads
        var traffic = new QueueTraffic();
        for (int i = 0; i < 400; i++) traffic.Queue(new byte[100_000]);
        dialled.Run(traffic);
        dialled.Close("enough");
        AwaitEnd(traffic);
        accepted.Dispose();
    }

    [Fact]
    public void Run_AfterClose_EndsAtOnce()
    {
        using var links = new LoopbackLinks();
        (LinkConnection dialled, LinkConnection accepted) = links.Pair();
        dialled.Close("first");
        dialled.Close("second");
        var traffic = new QueueTraffic();
        dialled.Nudge();
        dialled.Run(traffic);
        dialled.Nudge();
        AwaitEnd(traffic);
        Assert.Equal("first", traffic.Why);
        accepted.Dispose();
    }

    [Fact]
    public void Run_Twice_IsRefused()
    {
        using var links = new LoopbackLinks();
        (LinkConnection dialled, LinkConnection accepted) = links.Pair();
        var traffic = new QueueTraffic();
        dialled.Run(traffic);
        Assert.Throws<InvalidOperationException>(() => dialled.Run(new QueueTraffic()));
        dialled.Dispose();
        accepted.Dispose();
        AwaitEnd(traffic);
    }

    [Fact]
    public void Close_FromManyThreadsAtAnyMoment_EndsOnce()
    {
        using var links = new LoopbackLinks();
        var random = new Random(3);
        for (int round = 0; round < 50; round++)
        {
            (LinkConnection dialled, LinkConnection accepted) = links.Pair();
            var traffics = new[] { new QueueTraffic(), new QueueTraffic() };
            foreach (QueueTraffic traffic in traffics) traffic.Queue(new byte[10_000]);
            int spins = random.Next(100_000);
            Thread[] closers = [.. Enumerable.Range(0, 3).Select(i => new Thread(() =>
            {
                Thread.SpinWait(spins / (i + 1));
                (i % 2 == 0 ? dialled : accepted).Close($"by {i}");
            }))];
            foreach (Thread closer in closers) closer.Start();
            dialled.Run(traffics[0]);
            accepted.Run(traffics[1]);
            foreach (Thread closer in closers) closer.Join();
            AwaitEnd(traffics);
        }
        Assert.Empty(links.Log);
    }
}
