using Ambrosia.Protocol;
using Ambrosia.TestKit;
using CRA;

namespace Ambrosia.Coordinator.Tests;

public sealed class LinkTableTests : IDisposable
{
    private readonly FakeTime time = new();
    private readonly Side self;

    public LinkTableTests() => self = new Side("m", time);

    /// <summary>
    /// An accepted connection of <paramref name="name"/> whose hello has come in; what happens to it is told to <paramref name="closed"/>.
    /// </summary>
    private PeerLink Hello(string name, ulong epoch, ulong nonce, List<string> closed)
    {
        var peer = new InstanceId(name);
        PeerLink link = self.Accept(seed: 1);
        link.Close = why => closed.Add(why);
        Origin? origin = self.Ledger.Find(peer);
        var hello = new Hello(1, 1, origin?.Uuid ?? Guid.Parse("99999999-8888-7777-6666-555555555555"), peer, "r0", new Epoch(epoch), nonce,
            "m", Guid.Empty, default, 0, 0, 0, default, 0, 1 << 20);
        link.Feed(Made.Frame(hello, 1, checkPayload: true), drained: true, out _);
        return link;
    }

    private bool HasTurn(PeerLink link)
    {
        link.TryTake(out _);
        self.Log.Commit();
        return link.TryTake(out _) || self.Ledger.Find(link.Peer!.Value)!.Link == link;
    }

    [Theory]
    [InlineData(4, 1, 3, 9, false)] // a lower epoch, whatever the nonce
    [InlineData(4, 1, 5, 1, true)] // a higher epoch, whatever the nonce
    [InlineData(4, 5, 4, 6, true)]
    [InlineData(4, 5, 4, 5, false)] // a tie of two with one dialler: the standing one stays
    [InlineData(4, 5, 4, 4, false)]
    public void Offer_SecondConnection_WinsByEpochThenNonce(ulong epoch, ulong nonce, ulong secondEpoch, ulong secondNonce, bool wins)
    {
        List<string> firstClosed = [], secondClosed = [];
        PeerLink first = Hello("a", epoch, nonce, firstClosed);
        Assert.True(HasTurn(first));
        PeerLink second = Hello("a", secondEpoch, secondNonce, secondClosed);
        Assert.Equal(wins, firstClosed.Count == 1);
        Assert.Equal(!wins && secondEpoch >= epoch, secondClosed.Count == 1); // a lower epoch is refused by the hello check
        if (!wins) return;
        Assert.False(HasTurn(second)); // not while the first one's threads run
        first.Ended("closed");
        Assert.True(HasTurn(second));
    }

    [Fact]
    public void Offer_ThreeConnections_OnlyTheNewestWaits()
    {
        List<string> closed1 = [], closed2 = [], closed3 = [];
        PeerLink first = Hello("a", 1, 1, closed1), second = Hello("a", 1, 2, closed2), third = Hello("a", 1, 3, closed3);
        Assert.Equal((1, 1, 0), (Math.Min(1, closed1.Count), closed2.Count, closed3.Count));
        second.Ended("closed");
        Assert.False(HasTurn(third));
        first.Ended("closed");
        Assert.True(HasTurn(third));
        third.Ended("broken");
        Assert.Null(self.Table.OpenLinkTo(new InstanceId("a")));
        Assert.Empty(self.Table.All());
    }

    [Fact]
    public void Offer_WaitingConnectionThatBreaks_LeavesNothingBehind()
    {
        List<string> closed = [];
        PeerLink first = Hello("a", 1, 1, closed), second = Hello("a", 1, 2, closed);
        second.Ended("broken");
        first.Ended("closed");
        second.TakeTurn(); // the table gave it the turn while it broke
        Assert.Null(self.Ledger.Find(new InstanceId("a"))?.Link);
        Assert.False(second.TryTake(out _));
    }

    [Fact]
    public void NextNonce_AfterACallThatWasNotAnswered_IsHigherAgain()
    {
        var peer = new InstanceId("a");
        Assert.Equal(1ul, self.Table.NextNonce(peer));
        Assert.Equal(2ul, self.Table.NextNonce(peer)); // the peer may hold the first one for open: the second must win
        Hello("a", 1, 40, []);
        Assert.Equal(41ul, self.Table.NextNonce(peer));
    }

    [Fact]
    public void ShouldDial_Failures_BackOffAndWarnOnceUntilReached()
    {
        var peer = new InstanceId("a");
        Assert.False(self.Table.ShouldDial(self.Id, time.GetUtcNow()));
        Assert.True(self.Table.ShouldDial(peer, time.GetUtcNow()));
        Assert.False(self.Table.ShouldDial(peer, time.GetUtcNow())); // under way
        Assert.True(self.Table.DialFailed(peer, DialTrouble.NoAnswer));
        int dials = 0;
        for (int ms = 0; ms < 60_000; ms += 10)
        {
            time.Advance(TimeSpan.FromMilliseconds(10));
            if (!self.Table.ShouldDial(peer, time.GetUtcNow())) continue;
            dials++;
            Assert.False(self.Table.DialFailed(peer, DialTrouble.NoAnswer));
        }
        Assert.InRange(dials, 55, 75); // half of the bound of 2 s with the random source at 0.5
        Assert.True(self.Table.DialFailed(peer, DialTrouble.NoAddress)); // another trouble is news
        Assert.False(self.Table.DialFailed(peer, DialTrouble.NoAddress));
        self.Table.Opened(Hello("a", 1, 1, []));
        Assert.True(self.Table.DialFailed(peer, DialTrouble.NoAddress));
    }

    [Fact]
    public void ShouldDial_WhileConnectedOrStopped_IsFalse()
    {
        PeerLink link = Hello("a", 1, 1, []);
        Assert.False(self.Table.ShouldDial(link.Peer!.Value, time.GetUtcNow()));
        link.Ended("broken");
        Assert.True(self.Table.ShouldDial(link.Peer!.Value, time.GetUtcNow()));
        self.Table.DialFailed(link.Peer!.Value, DialTrouble.NoAnswer);
        self.Table.Stop(link.Peer!.Value);
        time.Advance(TimeSpan.FromHours(1));
        Assert.False(self.Table.ShouldDial(link.Peer!.Value, time.GetUtcNow()));
    }

    /// <summary>
    /// Only peers without a connection are looked at; one whose connection ends is called again, one that was never wanted is not.
    /// </summary>
    [Fact]
    public void PeersToDial_OfManyConnectedPeers_AreTheUnconnectedOnes()
    {
        var absent = new InstanceId("absent");
        var links = Enumerable.Range(0, 50).Select(i => Hello($"p{i}", 1, 1, [])).ToList();
        foreach (PeerLink link in links) Assert.False(self.Table.Want(link.Peer!.Value));
        Assert.Empty(self.Table.PeersToDial(time.GetUtcNow()));
        Assert.True(self.Table.Want(absent));
        Assert.False(self.Table.Want(absent)); // no news
        Assert.Equal([absent], self.Table.PeersToDial(time.GetUtcNow()));
        Assert.Empty(self.Table.PeersToDial(time.GetUtcNow())); // under way
        self.Table.Dialled(absent, TimeSpan.Zero, DialTrouble.NoAnswer);
        links[7].Ended("broken");
        time.Advance(Backoff.Cap);
        Assert.Equal([absent, new InstanceId("p7")], self.Table.PeersToDial(time.GetUtcNow()).Order());
        Assert.False(self.Table.Want(self.Id));
    }

    /// <summary>
    /// Three hundred peers are dead: a call to each of them lasts 5 s. Calls are never more than may be, each of the dead is called again
    /// and again, and a peer that answers is called as soon as it is due, however many of the dead are due before it.
    /// </summary>
    [Fact]
    public void PeersToDial_WithManyDeadPeers_LeavesNobodyWaiting()
    {
        const int dead = 300;
        var live = new InstanceId("live");
        var calls = Enumerable.Range(0, dead).ToDictionary(static i => new InstanceId($"dead{i}"), static _ => 0);
        foreach (InstanceId peer in calls.Keys) self.Table.Want(peer);
        var underWay = new Queue<(InstanceId Peer, DateTimeOffset Begun)>();
        int livesTurns = 0;
        for (int ms = 0; ms < 180_000; ms += 20)
        {
            time.Advance(TimeSpan.FromMilliseconds(20));
            if (ms == 60_000) self.Table.Want(live);
            while (underWay.TryPeek(out var oldest) && time.GetUtcNow() - oldest.Begun >= TimeSpan.FromSeconds(5))
                self.Table.Dialled(underWay.Dequeue().Peer, TimeSpan.FromSeconds(5), DialTrouble.NoAnswer);
            List<InstanceId> due = self.Table.PeersToDial(time.GetUtcNow());
            if (ms == 60_000) Assert.Contains(live, due); // at once
            foreach (InstanceId peer in due)
            {
                if (peer != live) { calls[peer]++; underWay.Enqueue((peer, time.GetUtcNow())); continue; }
                self.Table.Dialled(live, TimeSpan.FromMilliseconds(1), DialTrouble.NoAnswer); // refused
                livesTurns++;
            }
            Assert.True(underWay.Count <= DialSlots.Max && (ms < 60_000 || underWay.Count <= DialSlots.SlowMax),
                $"{underWay.Count} calls at {ms} ms");
        }
        Assert.InRange(livesTurns, 110, 140); // as often as alone: once a second with the random source at 0.5
        Assert.InRange(calls.Values.Min(), 4, calls.Values.Max());
        Assert.InRange(calls.Values.Max() - calls.Values.Min(), 0, 2); // in turn
    }

    [Fact]
    public void DoubleDial_AnyInterleaving_ConvergesToOneConnection() => Made.Seeds(100, random =>
    {
        using Side a = new("a"), b = new("b");
        var connections = new List<Connection> { new(a, b, 10), new(b, a, 20) };
        bool bothAtEnd = false;
        for (int step = 0; step < 4000; step++)
        {
            random.Pick(connections).Step(random);
            if (random.Chance(20)) random.Pick<Side>([a, b]).Log.CommitStep();
            Assert.True(connections.Count(static c => c.Dialler.IsOpen && c.Why is null) <= 2);
            foreach (Side side in new[] { a, b })
                Assert.True(connections.Count(c => c.Why is null && (c.From == side ? c.Dialler : c.Acceptor).IsOpen) <= 1,
                    "one connection has its turn");
            if (step == 2000 && connections.TrueForAll(static c => c.IsOver)) connections.Add(new Connection(a, b, 30));
            bothAtEnd = connections.Count(static c => c.IsOpen) == 1;
        }
        Assert.True(bothAtEnd);
        Connection won = connections.Single(static c => c.IsOpen);
        Assert.Same(won.From.Table.OpenLinkTo(won.To.Id), won.Dialler);
        Assert.Same(won.To.Table.OpenLinkTo(won.From.Id), won.Acceptor);
        Assert.Equal(2, connections.Count); // they never both lost
    });

    public void Dispose() => self.Dispose();
}
