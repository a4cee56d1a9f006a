using Ambrosia.Coordinator.Inbox;
using Ambrosia.Coordinator.Links;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.TestKit;
using CRA.Links;

namespace Ambrosia.Coordinator.Tests;

public sealed class LinkTableTests : IDisposable
{
    private readonly FakeTime _time = new();
    private readonly Side _self;

    public LinkTableTests() => _self = new Side("m", _time);

    /// <summary>
    /// An accepted connection of <paramref name="name"/> whose hello has come in; what happens to it is told to <paramref name="closed"/>.
    /// </summary>
    private PeerLink Hello(string name, ulong epoch, ulong nonce, List<string> closed)
    {
        var peer = new InstanceId(name);
        PeerLink link = _self.Accept(seed: 1, closed.Add);
        InboundChannel? origin = _self.Dedup.Find(peer);
        var hello = new Hello(1, 1, origin?.Uuid ?? Guid.Parse("99999999-8888-7777-6666-555555555555"), peer, "r0", new Epoch(epoch), nonce,
            "m", Guid.Empty, default, 0, 0, 0, default, 0, 1 << 20);
        link.Feed(Made.Frame(hello, 1, checkPayload: true), drained: true, out _);
        return link;
    }

    private bool TakeListing(InstanceId peer, ulong epoch) =>
        _self.Table.TakeListing(new Dictionary<InstanceId, Epoch> { [peer] = new Epoch(epoch) });

    private bool HasTurn(PeerLink link)
    {
        link.TryTake(out _);
        _self.Log.Commit();
        return link.TryTake(out _) || _self.Dedup.Find(link.Peer!.Value)!.Link == link;
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
        Assert.Null(_self.Table.OpenLinkTo(new InstanceId("a")));
        Assert.Empty(_self.Table.All());
    }

    [Fact]
    public void Offer_WaitingConnectionThatBreaks_LeavesNothingBehind()
    {
        List<string> closed = [];
        PeerLink first = Hello("a", 1, 1, closed), second = Hello("a", 1, 2, closed);
        second.Ended("broken");
        first.Ended("closed");
        second.TakeTurn(); // the table gave it the turn while it broke
        Assert.Null(_self.Dedup.Find(new InstanceId("a"))?.Link);
        Assert.False(second.TryTake(out _));
    }

    [Fact]
    public void NextNonce_AfterACallThatWasNotAnswered_IsHigherAgain()
    {
        var peer = new InstanceId("a");
        Assert.Equal(1ul, _self.Table.NextNonce(peer));
        Assert.Equal(2ul, _self.Table.NextNonce(peer)); // the peer may hold the first one for open: the second must win
        Hello("a", 1, 40, []);
        Assert.Equal(41ul, _self.Table.NextNonce(peer));
    }

    [Fact]
    public void ShouldDial_Failures_BackOffAndWarnOnceUntilReached()
    {
        var peer = new InstanceId("a");
        Assert.False(_self.Table.ShouldDial(_self.Id, _time.Elapsed));
        Assert.True(_self.Table.ShouldDial(peer, _time.Elapsed));
        Assert.False(_self.Table.ShouldDial(peer, _time.Elapsed)); // under way
        Assert.True(_self.Table.DialFailed(peer, DialFailure.NoAnswer));
        int dials = 0;
        for (int ms = 0; ms < 60_000; ms += 10)
        {
            _time.Advance(TimeSpan.FromMilliseconds(10));
            if (!_self.Table.ShouldDial(peer, _time.Elapsed)) continue;
            dials++;
            Assert.False(_self.Table.DialFailed(peer, DialFailure.NoAnswer));
        }
        Assert.InRange(dials, 55, 75); // half of the bound of 2 s with the random source at 0.5
        Assert.True(_self.Table.DialFailed(peer, DialFailure.NoAddress)); // another trouble is news
        Assert.False(_self.Table.DialFailed(peer, DialFailure.NoAddress));
        _self.Table.Opened(Hello("a", 1, 1, []));
        Assert.True(_self.Table.DialFailed(peer, DialFailure.NoAddress));
    }

    [Fact]
    public void ShouldDial_WhileConnectedOrStopped_IsFalse()
    {
        PeerLink link = Hello("a", 1, 1, []);
        Assert.False(_self.Table.ShouldDial(link.Peer!.Value, _time.Elapsed));
        link.Ended("broken");
        Assert.True(_self.Table.ShouldDial(link.Peer!.Value, _time.Elapsed));
        _self.Table.DialFailed(link.Peer!.Value, DialFailure.NoAnswer);
        _self.Table.Stop(link.Peer!.Value, "it differs");
        _time.Advance(TimeSpan.FromHours(1));
        Assert.False(_self.Table.ShouldDial(link.Peer!.Value, _time.Elapsed));
    }

    /// <summary>Who looks later finds the reason, and not how the connection happened to end behind it.</summary>
    [Fact]
    public void Status_OfAStoppedPeer_SaysWhy()
    {
        PeerLink link = Hello("a", 1, 1, []);
        _self.Table.Stop(link.Peer!.Value, "it differs");
        link.Ended("closed by this side");
        PeerStatus status = Assert.Single(_self.Table.Statuses());
        Assert.Equal(("stopped", "it differs"), (status.State, status.LastEnd));
    }

    /// <summary>
    /// Only peers without a connection are looked at; one whose connection ends is called again, one that was never wanted is not.
    /// </summary>
    [Fact]
    public void PeersToDial_OfManyConnectedPeers_AreTheUnconnectedOnes()
    {
        var absent = new InstanceId("absent");
        var links = Enumerable.Range(0, 50).Select(i => Hello($"p{i}", 1, 1, [])).ToList();
        foreach (PeerLink link in links) Assert.False(_self.Table.Want(link.Peer!.Value));
        Assert.Empty(_self.Table.PeersToDial(_time.Elapsed));
        Assert.True(_self.Table.Want(absent));
        Assert.False(_self.Table.Want(absent)); // no news
        Assert.Equal([absent], _self.Table.PeersToDial(_time.Elapsed));
        Assert.Empty(_self.Table.PeersToDial(_time.Elapsed)); // under way
        _self.Table.Dialled(absent, TimeSpan.Zero, DialFailure.NoAnswer);
        links[7].Ended("broken");
        _time.Advance(Backoff.Cap);
        Assert.Equal([absent, new InstanceId("p7")], _self.Table.PeersToDial(_time.Elapsed).Order());
        Assert.False(_self.Table.Want(_self.Id));
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
        foreach (InstanceId peer in calls.Keys) _self.Table.Want(peer);
        var underWay = new Queue<(InstanceId Peer, TimeSpan Begun)>();
        int livesTurns = 0;
        for (int ms = 0; ms < 180_000; ms += 20)
        {
            _time.Advance(TimeSpan.FromMilliseconds(20));
            if (ms == 60_000) _self.Table.Want(live);
            while (underWay.TryPeek(out var oldest) && _time.Elapsed - oldest.Begun >= TimeSpan.FromSeconds(5))
                _self.Table.Dialled(underWay.Dequeue().Peer, TimeSpan.FromSeconds(5), DialFailure.NoAnswer);
            List<InstanceId> due = _self.Table.PeersToDial(_time.Elapsed);
            if (ms == 60_000) Assert.Contains(live, due); // at once
            foreach (InstanceId peer in due)
            {
                if (peer != live) { calls[peer]++; underWay.Enqueue((peer, _time.Elapsed)); continue; }
                _self.Table.Dialled(live, TimeSpan.FromMilliseconds(1), DialFailure.NoAnswer); // refused
                livesTurns++;
            }
            Assert.True(underWay.Count <= DialSlots.Max && (ms < 60_000 || underWay.Count <= DialSlots.SlowMax),
                $"{underWay.Count} calls at {ms} ms");
        }
        Assert.InRange(livesTurns, 110, 140); // as often as alone: once a second with the random source at 0.5
        Assert.InRange(calls.Values.Min(), 4, calls.Values.Max());
        Assert.InRange(calls.Values.Max() - calls.Values.Min(), 0, 2); // in turn
    }

    /// <summary>A wall clock that is set back, or forward and right again, is nobody's reason to dial later.</summary>
    [Theory]
    [InlineData(-1)]
    [InlineData(-24 * 365)]
    public void PeersToDial_ClockSetBack_CallsAgainInTheSameTime(int hours)
    {
        var peer = new InstanceId("a");
        _self.Table.Want(peer);
        _time.Advance(TimeSpan.FromMinutes(1));
        Assert.Equal([peer], _self.Links.PeersToDial());
        _self.Table.Dialled(peer, TimeSpan.Zero, DialFailure.NoAnswer);
        _time.ShiftWallClock(TimeSpan.FromHours(hours));
        _time.Advance(Backoff.Cap);
        Assert.Equal([peer], _self.Links.PeersToDial());
    }

    /// <summary>
    /// A peer that is killed again and again is reached as soon as it has published where it is now: the calls to the process before it,
    /// which nobody answered, do not count against it. Each epoch is news once.
    /// </summary>
    [Fact]
    public void Published_PeerOfANewEpoch_IsDialledAtOnceAndOnce()
    {
        var peer = new InstanceId("a");
        Assert.False(TakeListing(peer, 1)); // nobody wants it
        _self.Table.Want(peer);
        Assert.True(TakeListing(peer, 1));
        for (int i = 0; i < 10; i++)
        {
            Assert.Equal([peer], _self.Links.PeersToDial());
            _self.Table.Dialled(peer, TimeSpan.Zero, DialFailure.NoAnswer);
            _time.Advance(Backoff.Cap);
        }
        Assert.Equal([peer], _self.Links.PeersToDial());
        _self.Table.Dialled(peer, TimeSpan.Zero, DialFailure.NoAnswer);
        Assert.False(TakeListing(peer, 1));
        Assert.Empty(_self.Links.PeersToDial());
        Assert.True(TakeListing(peer, 2));
        Assert.Equal([peer], _self.Links.PeersToDial());
        Assert.False(TakeListing(peer, 2));
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

    public void Dispose() => _self.Dispose();

    [Fact]
    public void PeersToDial_PeersThatTheCatalogDoesNotList_RestUntilItDoes()
    {
        InstanceId[] peers = [.. Enumerable.Range(0, 1000).Select(static i => new InstanceId($"away{i:D4}"))];
        _self.Table.Admit();
        foreach (InstanceId peer in peers) Assert.True(_self.Table.Want(peer));
        for (int called = 0; called < peers.Length;)
        {
            _time.Advance(Backoff.Cap);
            foreach (InstanceId peer in _self.Links.PeersToDial())
            {
                called++;
                Assert.True(_self.Table.Dialled(peer, TimeSpan.Zero, DialFailure.Unlisted)); // worth a line, once
            }
        }
        Assert.True(_self.Table.HasUnconnected);
        Assert.False(_self.Table.HasAwake);
        _time.Advance(TimeSpan.FromHours(1));
        Assert.Empty(_self.Links.PeersToDial());
        Assert.False(_self.Table.Want(peers[0])); // more output to it is no news
        Assert.False(TakeListing(new InstanceId("other"), 1));
        Assert.True(TakeListing(peers[7], 1));
        Assert.Equal([peers[7]], _self.Links.PeersToDial());
        Assert.False(_self.Table.Dialled(peers[7], TimeSpan.Zero, DialFailure.Unlisted)); // gone again meanwhile
        Assert.False(TakeListing(peers[7], 1)); // listed still, or again: called with the usual pause
        _time.Advance(Backoff.Cap);
        Assert.Equal([peers[7]], _self.Links.PeersToDial());
    }

    /// <summary>Thousands of names are not called one by one to learn what one listing says.</summary>
    [Fact]
    public void TakeListing_PeersThatWereWantedBefore_RestUncalledAndAreToldOfOnce()
    {
        InstanceId early = new("early"), late = new("late"), listed = new("listed");
        _self.Table.Want(early);
        _self.Table.Want(listed);
        _self.Table.BeginListing();
        _self.Table.Want(late); // the listing may be older than its entry
        Assert.True(TakeListing(listed, 1));
        Assert.Equal([early], _self.Table.TakeUntold());
        Assert.Equal([late, listed], _self.Links.PeersToDial().Order());
        _self.Table.BeginListing();
        Assert.True(TakeListing(early, 1));
        Assert.Empty(_self.Table.TakeUntold()); // calls to the others are under way
        Assert.Equal([early], _self.Links.PeersToDial());
    }

    [Fact]
    public void PeersToDial_CatalogThatCannotBeListed_LooksUpAFewByName()
    {
        var peer = new InstanceId("a");
        _self.Table.Admit();
        _self.Table.Want(peer);
        Assert.Equal([peer], _self.Links.PeersToDial());
        _self.Table.Dialled(peer, TimeSpan.Zero, DialFailure.Unlisted);
        _time.Advance(Backoff.Cap);
        Assert.Empty(_self.Links.PeersToDial());
        _self.Table.MissListing();
        Assert.Equal([peer], _self.Links.PeersToDial());
    }

    /// <summary>Peers that are listed and dead cannot rest; all together they are called about as often as a few are.</summary>
    [Fact]
    public void PeersToDial_ThousandsThatDoNotAnswer_AreCalledNoMoreOftenThanHundreds()
    {
        const int Seconds = 400;
        _self.Table.Admit();
        for (int i = 0; i < 10_000; i++) _self.Table.Want(new InstanceId($"dead{i:D5}"));
        int calls = 0;
        for (int i = 0; i < Seconds * 20; i++)
        {
            _time.Advance(TimeSpan.FromMilliseconds(50));
            List<InstanceId> due = _self.Links.PeersToDial();
            if (i >= Seconds * 10) calls += due.Count;
            foreach (InstanceId peer in due) _self.Table.Dialled(peer, TimeSpan.Zero, DialFailure.NoAnswer);
        }
        Assert.InRange(calls / (Seconds / 2), 20, 600);
    }
}
