using System.Net.Sockets;
using Ambrosia.Protocol.Frames;
using Ambrosia.TestKit;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>
/// Several connections of one pair, with a real coordinator at one end and a test at the other that says what it wants when it wants.
/// </summary>
public sealed class ConnectionOrderTests
{
    private const int CrossingsOfARelease = 30;

    private static void OnAHub(Action<Cluster, Replica, Chance> test, int fillBytes = 0)
    {
        var chance = new Chance();
        using var cluster = new Cluster();
        Replica hub = cluster.Add("hub", "hub");
        hub.Settings["FILL"] = $"{fillBytes}";
        cluster.Run(chance.Again(nameof(ConnectionOrderTests)), () =>
        {
            hub.Start().AwaitReady();
            test(cluster, hub, chance);
            cluster.AssertNoneGaveUp();
        });
    }

    /// <summary>
    /// P6.4's exception: the hello was written before a newer connection acknowledged more, and comes after it. It is sent
    /// away, and nothing stops.
    /// </summary>
    [Fact]
    public void Hello_OvertakenByAnAcknowledgement_IsRefusedAndTheLinkGoesOn() => OnAHub((cluster, hub, chance) =>
    {
        const int calls = 50;
        var busy = new LeanPeer(cluster, "hub", "busy", 0, chance);
        var slow = new LeanPeer(cluster, "hub", "slow", 1, chance);
        busy.Make(2 * calls);
        using RawLink late = slow.Dial();
        Hello early = slow.NextHello(); // says 0
        using RawLink asks = busy.Dial(), takes = slow.Dial();
        busy.Open(asks, busy.NextHello());
        slow.Open(takes, slow.NextHello());
        asks.Send(FrameType.Run, busy.Run(1, calls));
        TakeUntil(slow, takes, calls);
        Cluster.Await("the trim", () => Trimmed(hub, "slow") == calls);
        late.Send(early);
        Assert.Contains("another connection overtook this hello; the next is taken (P6.4)",
            Goodbye.Read(late.Await(FrameType.Goodbye)).Why);
        hub.AwaitLine("line about it", static line => line.StartsWith("link slow: refused: ", StringComparison.Ordinal));

        asks.Send(FrameType.Run, busy.Run(calls + 1, calls)); // the other connection goes on
        TakeUntil(slow, takes, 2 * calls);
        using RawLink again = slow.Dial(); // and a new one may come
        slow.Open(again, slow.NextHello());
        Assert.Null(hub.Lines.Find(static line => line.Contains("stopped:", StringComparison.Ordinal)));
    });

    /// <summary>
    /// The other side of that exception: the same hello on a connection that began after the acknowledgement is that of a restored log.
    /// </summary>
    [Fact]
    public void Hello_BehindAnAcknowledgementThatNothingOvertook_StopsTheLink() => OnAHub((cluster, hub, chance) =>
    {
        const int calls = 50;
        var busy = new LeanPeer(cluster, "hub", "busy", 0, chance);
        var slow = new LeanPeer(cluster, "hub", "slow", 1, chance);
        busy.Make(calls);
        Hello early = slow.NextHello();
        using RawLink asks = busy.Dial(), takes = slow.Dial();
        busy.Open(asks, busy.NextHello());
        slow.Open(takes, slow.NextHello());
        asks.Send(FrameType.Run, busy.Run(1, calls));
        TakeUntil(slow, takes, calls);
        Cluster.Await("the trim", () => Trimmed(hub, "slow") == calls);
        using RawLink restored = slow.Dial();
        restored.Send(early with { Nonce = 99 });
        Assert.Contains("its log is older", Goodbye.Read(restored.Await(FrameType.Goodbye)).Why);
        hub.AwaitLine("line about it", static line => line.StartsWith("link slow: stopped: ", StringComparison.Ordinal));
        TakeUntil(busy, asks, calls); // the others are served
    });

    /// <summary>P2.2: a whole and right frame of the connection before, sent on this one, has no effect but the end of this one.</summary>
    [Fact]
    public void Frame_OfAnOldConnection_EndsTheNewOneAndHasNoEffect() => OnAHub((cluster, hub, chance) =>
    {
        var busy = new LeanPeer(cluster, "hub", "busy", 0, chance);
        busy.Make(10);
        using RawLink first = busy.Dial();
        busy.Open(first, busy.NextHello());
        byte[] kept = first.Sealed(FrameType.Run, busy.Run(1, 10));
        using RawLink second = busy.Dial();
        busy.Open(second, busy.NextHello());
        AwaitEnd(first); // superseded
        second.Socket.Send(kept);
        AwaitEnd(second);
        hub.AwaitLine("line that names the rule",
            static line => line.StartsWith("link busy: closed: ", StringComparison.Ordinal)
                && line.Contains("P2.1", StringComparison.Ordinal));

        using RawLink third = busy.Dial();
        busy.Open(third, busy.NextHello());
        Assert.Equal(0ul, busy.Acknowledged);
        third.Send(FrameType.Run, busy.Run(1, 10));
        TakeUntil(busy, third, 10);
    });

    /// <summary>
    /// P6.10: both are authenticated before either says hello; whichever hello comes first, the higher nonce has the
    /// link and the other ends.
    /// </summary>
    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void Connections_OfOnePeerAtOnce_TheHigherNonceWins(bool higherFirst) => OnAHub((cluster, hub, chance) =>
    {
        var busy = new LeanPeer(cluster, "hub", "busy", 0, chance);
        busy.Make(10);
        using RawLink one = busy.Dial(), other = busy.Dial();
        Hello lower = busy.NextHello(), higher = busy.NextHello();
        (RawLink winner, RawLink loser) = (other, one);
        if (higherFirst) winner.Send(higher);
        loser.Send(lower);
        if (!higherFirst) winner.Send(higher);
        winner.Await(FrameType.Hello);
        winner.Send(FrameType.Ready, []);
        AwaitEnd(loser);
        winner.Send(FrameType.Run, busy.Run(1, 10));
        TakeUntil(busy, winner, 10);
        Assert.Equal("open", (string?)hub.Status()!["links"]!.AsArray().Single(static link => (string?)link!["peer"] == "busy")!["state"]);
    });

    /// <summary>
    /// Both sides dial, and neither call gets through before both are made: again and again, and no call is lost or doubled.
    /// </summary>
    [Fact]
    public void Instances_ThatDialEachOtherAtOnce_AgreeOnOneConnectionAndEveryCall()
    {
        var chance = new Chance();
        using var pair = new RelayedPair(TestScale.Rounds(50_000), burst: 50, chance.Seed, new LinkFaults());
        pair.Run(chance.Again(nameof(Instances_ThatDialEachOtherAtOnce_AgreeOnOneConnectionAndEveryCall)), () =>
        {
            for (int n = Math.Max(3, TestScale.Rounds(CrossingsOfARelease)); n > 0; n--)
            {
                long passed = pair.ToSource.Passed + pair.ToLedger.Passed;
                Cluster.Await("calls pass", () => pair.ToSource.Passed + pair.ToLedger.Passed > passed + 10_000);
                pair.ToSource.Hold();
                pair.ToLedger.Hold();
                pair.ToSource.CutAll();
                pair.ToLedger.CutAll();
                Cluster.Await("a call each way", () => pair.ToSource.Waiting > 0 && pair.ToLedger.Waiting > 0);
                pair.ToSource.Release();
                pair.ToLedger.Release();
            }
        });
    }

    /// <summary>
    /// P6.11: a peer that says it takes less than what is next for it is told so and waits; the others do not; with a larger
    /// limit it has everything.
    /// </summary>
    [Fact]
    public void Peer_ThatTakesOnlyShortMessages_IsToldAndCatchesUpWhenItTakesMore() => OnAHub((cluster, hub, chance) =>
    {
        const int calls = 50;
        var busy = new LeanPeer(cluster, "hub", "busy", 0, chance);
        var slow = new LeanPeer(cluster, "hub", "slow", 1, chance) { MessageBytesMax = 500 };
        var away = new LeanPeer(cluster, "hub", "away", 2, chance);
        busy.Make(calls);
        using RawLink asks = busy.Dial(), refused = slow.Dial(), takes = away.Dial();
        busy.Open(asks, busy.NextHello());
        slow.Open(refused, slow.NextHello());
        away.Open(takes, away.NextHello());
        asks.Send(FrameType.Run, busy.Run(1, calls));
        string why = Goodbye.Read(refused.Await(FrameType.Goodbye)).Why;
        Assert.Contains("slow takes messages of at most 500 bytes", why);
        Assert.Contains("(P6.11)", why);
        hub.AwaitLine("line about it", static line => line.StartsWith("link slow: stopped: ", StringComparison.Ordinal));
        TakeUntil(busy, asks, calls);
        TakeUntil(away, takes, calls);

        using RawLink again = slow.Dial();
        again.Send(slow.NextHello());
        Assert.Contains("(P6.11)", Goodbye.Read(again.Await(FrameType.Goodbye)).Why);
        slow.MessageBytesMax = 5_000;
        using RawLink enough = slow.Dial();
        slow.Open(enough, slow.NextHello());
        TakeUntil(slow, enough, calls);
    }, fillBytes: 1_000);

    internal static void TakeUntil(LeanPeer peer, RawLink link, ulong received)
    {
        while (peer.Received < received)
        {
            (FrameType type, byte[] payload) = link.Receive();
            peer.Take(type, payload);
            if (type == FrameType.Run) link.Send(peer.NextAck());
        }
    }

    /// <summary>Calls that the hub has in its log as durable at the peer.</summary>
    internal static ulong Trimmed(Replica hub, string to) =>
        (ulong?)hub.Status()?["outboxes"]?.AsArray().FirstOrDefault(box => (string?)box!["to"] == to)?["trimmed"] ?? 0;

    /// <summary>The other side closes; what it says before does not matter.</summary>
    private static void AwaitEnd(RawLink link)
    {
        try
        {
            while (true) link.Receive();
        }
        catch (SocketException e)
        {
            Assert.NotEqual(SocketError.TimedOut, e.SocketErrorCode);
        }
    }
}
