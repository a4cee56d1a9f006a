using Ambrosia.Coordinator.Inbox;
using Ambrosia.Coordinator.Links;
using Ambrosia.Coordinator.Outboxes;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Records;
using Ambrosia.Protocol.Runs;
using CRA.Links;

namespace Ambrosia.Coordinator.Tests;

/// <summary>Connections that must not be used: each ends alone, both operators learn why, and neither hears it for ever.</summary>
public sealed class RefusalTests : IDisposable
{
    private const uint Seed = 42;
    private static readonly Guid s_uuid = Guid.Parse("99999999-8888-7777-6666-555555555555");
    private readonly Side _a = new("a"), _b = new("b");

    private static Hello HelloOf(string name, ulong epoch, ulong nonce, string to, Guid? id = null, uint limit = 1 << 20) =>
        new(1, 1, id ?? s_uuid, new InstanceId(name), "r0", new Epoch(epoch), nonce, to, Guid.Empty, default, 0, 0, 0, default, 0, limit);

    private static FeedResult Feed<T>(PeerLink link, T frame) where T : IFramePayload<T> =>
        link.Feed(Made.Frame(frame, Seed, checkPayload: true), true, out _);

    private static List<(FrameType Type, byte[] Payload)> Taken(PeerLink link)
    {
        if (!link.TryTake(out ReadOnlyMemory<byte> bytes)) return [];
        List<(FrameType, byte[])> frames = Made.FramesOf(bytes.Span, Seed, checkPayload: true);
        link.Taken(bytes.Length);
        return frames;
    }

    /// <summary>
    /// Two hellos are judged, and only then does either get its turn: the second finds that what was right is so no longer.
    /// </summary>
    [Theory]
    [InlineData(5, false)]
    [InlineData(4, true)]
    public void TakeTurn_AfterAnotherWasAdmittedMeanwhile_IsRefusedAndEndsAlone(ulong otherEpoch, bool otherUuid)
    {
        var ended = new List<string>();
        PeerLink first = _b.Accept(Seed), second = _b.Accept(Seed, closeAfterSending: ended.Add);
        var other = new InstanceId("x");
        Feed(first, HelloOf("x", 4, 1, "b"));
        Feed(second, HelloOf("x", 4, 2, "b")); // judged, and waits for the first to end
        Assert.True(_b.Dedup.TryAdmit(other, s_uuid, new Epoch(otherUuid ? 4ul : otherEpoch), out InboundChannel? origin, out _));
        if (otherUuid) origin.Uuid = Guid.NewGuid();
        _b.Lines.Clear();
        first.Ended("over");

        Assert.Contains("(P6.3)", Assert.Single(ended));
        (FrameType type, byte[] payload) = Assert.Single(Taken(second));
        Assert.Equal((FrameType.Goodbye, GoodbyeCode.Refused), (type, Goodbye.Read(payload).Code));
        Assert.Single(_b.Lines, static line => line.StartsWith("link x: refused", StringComparison.Ordinal));
        Assert.Equal(FeedResult.Close, second.Feed(Made.Frame(FrameType.Ready, [], Seed, true), true, out _));
        second.Ended("refused");
        Assert.Null(_b.Table.OpenLinkTo(other));
        Assert.Equal(-1, _b.ExitCode);
    }

    [Fact]
    public void TryAdmit_LowerEpochOrOtherUuid_ChangesNothing()
    {
        var peer = new InstanceId("x");
        InboundChannel origin = _b.Dedup.Admitted(peer, s_uuid, new Epoch(5));
        Assert.False(_b.Dedup.TryAdmit(peer, s_uuid, new Epoch(4), out _, out string? why));
        Assert.Contains("epoch 4", why);
        Assert.False(_b.Dedup.TryAdmit(peer, Guid.NewGuid(), new Epoch(6), out _, out why));
        Assert.Contains("two instances have one name", why);
        Assert.Equal((s_uuid, new Epoch(5)), (origin.Uuid, origin.Epoch));
        Assert.Same(origin, _b.Dedup.Admitted(peer, s_uuid, new Epoch(6)));
    }

    /// <summary>A peer whose log was restored comes again and again with an epoch that was seen already.</summary>
    [Fact]
    public void Hello_OfARestoredPeerForAnHour_IsSaidSeldomAndAnsweredEachTime()
    {
        PeerLink good = _b.Accept(Seed);
        Feed(good, HelloOf("x", 9, 1, "b"));
        good.Ended("over");
        _b.Lines.Clear();
        int hellos = 0;
        for (TimeSpan passed = default; passed < TimeSpan.FromHours(1); passed += TimeSpan.FromSeconds(2), hellos++)
        {
            _b.Time.Advance(TimeSpan.FromSeconds(2));
            PeerLink late = _b.Accept(Seed);
            Assert.Equal(FeedResult.Close, Feed(late, HelloOf("x", 7, 1, "b")));
            Assert.Equal([FrameType.Hello, FrameType.Goodbye], Taken(late).Select(static frame => frame.Type));
            late.Ended("closed");
        }
        Assert.InRange(_b.Lines.Count, 2, 20);
        Assert.All(_b.Lines, static line => Assert.Contains("epoch 7", line));
        int counted = _b.Lines.Sum(static line => line.Contains(" times more") ? int.Parse(line.Split('(')[^1].Split(' ')[0]) : 0);
        Assert.InRange(_b.Lines.Count + counted, hellos / 2, hellos);
    }

    /// <summary>
    /// Two new peers at once, and the second is asked for its record first: ids still begin in the log in their order (L5.4).
    /// </summary>
    [Fact]
    public void Hello_OfTwoNewPeersAtOnce_AreLoggedInTheOrderOfTheirIds()
    {
        PeerLink first = _b.Accept(Seed), second = _b.Accept(Seed), third = _b.Accept(Seed);
        Feed(first, HelloOf("x", 1, 1, "b"));
        Feed(second, HelloOf("y", 1, 1, "b", Guid.NewGuid()));
        Feed(third, HelloOf("z", 1, 1, "b", Guid.NewGuid()));
        Taken(third);
        Taken(first);
        Taken(second);
        _b.Log.Commit();
        foreach (PeerLink link in new[] { second, third, first }) Assert.Equal(FrameType.Hello, Assert.Single(Taken(link)).Type);
        Assert.Equal([1u, 2u, 3u],
            _b.Log.Records().Where(static r => r.Kind == RecordKind.Peer).Select(static r => PeerRecord.Read(r.Body).Origin));
    }

    [Fact]
    public void Dial_RefusedAgainAndAgain_RestsBetweenCalls()
    {
        var peer = new InstanceId("x");
        int dials = 0;
        for (int ms = 0; ms < 600_000; ms += 50)
        {
            _a.Time.Advance(TimeSpan.FromMilliseconds(50));
            if (!_a.Table.ShouldDial(peer, _a.Time.Elapsed)) continue;
            dials++;
            PeerLink link = _a.Dial(peer, Seed);
            Taken(link);
            Assert.Equal(FeedResult.Close, Feed(link, new Goodbye(GoodbyeCode.Refused, "your log is old")));
            link.Ended("closed");
        }
        Assert.InRange(dials, 50, 75); // every 10 s, after a few at once
        Assert.InRange(_a.Lines.Count, 2, 12);
        Assert.Equal("link x: closed by the other side: your log is old", _a.Lines[0]);
        Assert.Equal(("x", "your log is old"), (_a.Table.Statuses()[0].Peer.Name, _a.Table.Statuses()[0].LastEnd)); // what status shows
        Connection open = new(new Side("x"), _a, Seed);
        Open(open);
        Assert.True(open.IsOpen);
        open.End();
        Assert.True(_a.Table.ShouldDial(peer, _a.Time.Elapsed + Backoff.Cap)); // reached once: called at once again
    }

    /// <summary>A primary that was stopped and moves again is silent until it has read the fence: not even a heartbeat goes out.</summary>
    [Fact]
    public void Link_OfAPrimaryInDoubt_PutsNothingOnTheWire()
    {
        var connection = new Connection(_a, _b, Seed);
        Open(connection);
        Assert.False(connection.Dialler.HeartbeatFrame.IsEmpty);
        _a.IsInDoubt = true;
        connection.Dialler.DurableAdvanced();
        _a.Bench.Append(Made.Run(MessageKind.Fork, 0, 0, [Made.Message(MessageKind.Fork, 1, 5)]), _a.Bench.Set.GetOrAdd(_b.Id));
        Assert.True(connection.Dialler.HeartbeatFrame.IsEmpty);
        Assert.False(connection.Dialler.TryTake(out _));
        _a.IsInDoubt = false;
        Assert.True(connection.Dialler.TryTake(out _));
        Assert.False(connection.Dialler.HeartbeatFrame.IsEmpty);
    }

    [Fact]
    public void Ended_OfAnOpenLink_IsOneLine()
    {
        var connection = new Connection(_a, _b, Seed);
        Open(connection);
        Assert.Empty(_a.Lines);
        connection.Break("the cable was cut");
        connection.End();
        Assert.Equal(("link b: lost: the cable was cut", "link a: lost: the cable was cut"),
            (Assert.Single(_a.Lines), Assert.Single(_b.Lines)));
    }

    [Fact]
    public void Hello_OfAnUnknownNameThatIsRefused_LeavesNothingBehind()
    {
        int before = _b.Bench.Set.InOrder().Count;
        for (int i = 0; i < 100; i++)
        {
            PeerLink link = _b.Accept(Seed);
            Feed(link, HelloOf($"x{i}", 1, 1, "another"));
            link.Ended("closed");
        }
        Assert.Equal(before, _b.Bench.Set.InOrder().Count);
        Assert.Equal(100, _b.Lines.Count); // each was a connection of its own
    }

    /// <summary>P6.11: what fits goes; then the link stops, and opens again when the peer takes more.</summary>
    [Theory]
    [InlineData(-1)]
    [InlineData(1000)]
    public void Sending_MessageAboveThePeersLimit_StopsThatLinkUntilTheLimitIsRaised(int blocksMax)
    {
        const uint Limit = 2000;
        using var side = new Side("s", blocksMax: blocksMax);
        Channel channel = new();
        channel.Add(MessageKind.Fork, Made.Message(MessageKind.Fork, 1, 50));
        channel.Add(MessageKind.Fork, Made.Message(MessageKind.Fork, 2, (int)Limit + 10));
        channel.Add(MessageKind.Fork, Made.Message(MessageKind.Fork, 3, 50));
        var peer = new InstanceId("x");
        Outbox outbox = side.Bench.Set.GetOrAdd(peer);
        for (ulong n = 1; n <= 3; n++) side.Bench.Append(Made.Run(MessageKind.Fork, 0, 0, [channel.Messages[(int)n - 1].Bytes]), outbox);

        string? closed = null;
        PeerLink link = Opened(side, HelloOf("x", 1, 1, "s", limit: Limit), why => closed = why);
        List<(FrameType Type, byte[] Payload)> sent = TakenAll(link);
        Assert.Equal([FrameType.Run, FrameType.Goodbye], sent.Select(static f => f.Type));
        Assert.Contains("(P6.11)", Goodbye.Read(sent[1].Payload).Why);
        Assert.Contains("(P6.11)", closed);
        Assert.Contains($"at most {Limit} bytes", Assert.Single(side.Lines));
        link.Ended("closed");
        side.Time.Advance(TimeSpan.FromHours(1));
        Assert.False(side.Table.ShouldDial(peer, side.Time.Elapsed));

        PeerLink again = side.Accept(Seed);
        Assert.Equal(FeedResult.Close, Feed(again, HelloOf("x", 2, 1, "s", limit: Limit)));
        again.Ended("closed");
        PeerLink larger = Opened(side, HelloOf("x", 3, 1, "s", limit: 2 * Limit));
        Assert.Equal(channel.Messages.Select(static m => m.Bytes),
            TakenAll(larger).Where(static f => f.Type == FrameType.Run).SelectMany(static f => Made.MessagesOf(RunView.Read(f.Payload))));
        larger.Ended("closed");
        Assert.True(side.Table.ShouldDial(peer, side.Time.Elapsed));
    }

    /// <summary>A run of small messages may be longer than the limit of one.</summary>
    [Fact]
    public void Sending_LongRunOfMessagesWithinTheLimit_Goes()
    {
        using var side = new Side("s");
        var messages = Enumerable.Range(1, 1000).Select(static i => Made.Message(MessageKind.Fork, (ulong)i, 190)).ToList();
        side.Bench.Append(Made.Run(MessageKind.Fork, 0, 0, messages), side.Bench.Set.GetOrAdd(new InstanceId("x")));
        PeerLink link = Opened(side, HelloOf("x", 1, 1, "s", limit: 250));
        Assert.Equal(messages,
            TakenAll(link).Where(static f => f.Type == FrameType.Run).SelectMany(static f => Made.MessagesOf(RunView.Read(f.Payload))));
    }

    private static PeerLink Opened(Side side, Hello hello, Action<string>? closeAfterSending = null)
    {
        PeerLink link = side.Accept(Seed, closeAfterSending: closeAfterSending);
        Feed(link, hello);
        Taken(link);
        side.Log.Commit();
        Assert.Equal(FrameType.Hello, Assert.Single(Taken(link)).Type);
        link.Feed(Made.Frame(FrameType.Ready, [], Seed, true), true, out _);
        Assert.True(link.IsOpen);
        return link;
    }

    private static List<(FrameType Type, byte[] Payload)> TakenAll(PeerLink link)
    {
        var all = new List<(FrameType, byte[])>();
        while (Taken(link) is { Count: > 0 } frames) all.AddRange(frames);
        return all;
    }

    private static void Open(Connection connection)
    {
        for (int round = 0; round < 20; round++)
        {
            foreach (bool dialler in new[] { true, false }) { connection.Send(dialler); connection.Receive(dialler); }
            connection.From.Log.Commit();
            connection.To.Log.Commit();
        }
    }

    public void Dispose()
    {
        _a.Dispose();
        _b.Dispose();
    }
}
