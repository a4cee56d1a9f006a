using Ambrosia.Coordinator.Framing;
using Ambrosia.Coordinator.AppSessions;
using Ambrosia.Coordinator.Links;
using Ambrosia.Coordinator.LogFeed;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Log.Format;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Records;
using Ambrosia.Protocol.Runs;
using Ambrosia.TestKit;

namespace Ambrosia.Coordinator.Tests;

/// <summary>
/// The app dies, with half a frame in the socket or not; the coordinator dies; what comes next goes on as if nothing had happened.
/// </summary>
public sealed class HandoverTests
{
    private const ulong Last = 300;
    private const uint Seed = 9;
    private static readonly LogOptions s_options = OpenedLog.Small with { Pages = 4 };

    [Fact]
    public void Sessions_KilledAnywhere_PeerGetsEveryCallOnce()
    {
        int checkpoints = 0;
        Made.Seeds(60, random => checkpoints += KillAndCompare(random));
        Assert.True(checkpoints >= 5, $"only {checkpoints} checkpoints to begin from");
    }

    /// <summary>One life with kills; returns how many checkpoints were published in it.</summary>
    private static int KillAndCompare(SimulatedRandom random)
    {
        int published = 0;
        var disk = new SimulatedFileSystem();
        var time = new FakeTime();
        var node = new Node(disk, time, s_options);
        CountingApp? app = null;
        int kills = random.Next(1, 8), checkpoints = random.Next(1, 5);
        for (int step = 0; app is not { Executed: Last, IsQuiet: true } || kills > 0
            || node.Parts.Log.Durable < node.Parts.Log.Tail; step++)
        {
            Assert.True(step < 200_000, "it comes to rest");
            app ??= new CountingApp(node, random, Last);
            switch (random.Next(12))
            {
                case 0 when checkpoints > 0 && random.Chance(10): app.Ask(); checkpoints--; break;
                case 1 when random.Chance(5): node.Parts.Tick(isQuiet: true); time.Advance(TimeSpan.FromMilliseconds(random.Next(300)));
                    node.Parts.CheckFence(); break;
                case 2 when kills > 0 && random.Chance(3): app.Kill(); app = null; kills--; break;
                case 3 when kills > 0 && random.Chance(1): node.Kill(); app = null; kills--; published += Published(node);
                    node = new Node(disk, time, s_options); break;
                case 4: node.Parts.Checkpoints.Step(); break;
                case 5 or 6: node.CommitStep(); break;
                default: app.Step(); break;
            }
        }
        Channel expected = Expected();
        int have = random.Next((int)Last + 1);
        Assert.Equal(expected.Messages.Skip(have).Select(static m => m.Bytes), Fetch(node, expected, (ulong)have));
        return published + Published(node);
    }

    private static int Published(Node node) =>
        node.Lines.Count(static line => line.StartsWith("checkpoint ckpt", StringComparison.Ordinal));

    /// <summary>
    /// An impulse of the dead app becomes durable while the next one's checkpoint is read: nobody waits for it, and
    /// the welcome comes first.
    /// </summary>
    [Fact]
    public void Session_AckOfTheDeadOnesImpulseWhileItBegins_HearsTheWelcomeFirst()
    {
        var disk = new SimulatedFileSystem();
        var node = new Node(disk, new FakeTime(), s_options);
        var random = new SimulatedRandom(4);
        var first = new CountingApp(node, random, 10);
        Run(node, first, 10);
        PeerLink link = Open(node);
        first.Impulse();
        while (!first.IsQuiet) first.Step();
        while (link.TryTake(out ReadOnlyMemory<byte> bytes)) link.Taken(bytes.Length);
        first.Kill();

        var second = new CountingApp(node, random, 10);
        bool acked = false;
        disk.BeforeOperation = _ =>
        {
            if (acked || node.Parts.Sessions.Live is null) return;
            acked = true;
            link.Feed(Made.Frame(new Ack(10, node.Parts.Epoch, 1), Seed, checkPayload: true), true, out int _);
        };
        Run(node, second, 10); // it refuses whatever comes before the welcome
        disk.BeforeOperation = null;
        Assert.True(acked);
    }

    /// <summary>An open connection of a peer that has nothing yet.</summary>
    private static PeerLink Open(Node node)
    {
        PeerLink link = node.Parts.Links.New(null, new LinkTransport(Seed, "peer"))!;
        var hello = new Hello(1, 1, Guid.Parse("99999999-8888-7777-6666-555555555555"), OutboxBench.Peer, "r0", new Epoch(1), 1, "self",
            Guid.Empty, default, 0, 0, 0, default, 0, 1 << 20);
        link.Feed(Made.Frame(hello, Seed, checkPayload: true), true, out _);
        link.TryTake(out _);
        node.Commit();
        Assert.True(link.TryTake(out ReadOnlyMemory<byte> bytes));
        link.Taken(bytes.Length);
        link.Feed(Made.Frame(FrameType.Ready, [], Seed, checkPayload: true), true, out _);
        Assert.True(link.IsOpen);
        return link;
    }

    [Fact]
    public void Session_ThatDoesSomethingElseThanTheDeadOne_Diverges()
    {
        var random = new SimulatedRandom(4);
        var node = new Node(new SimulatedFileSystem(), new FakeTime(), s_options);
        var first = new CountingApp(node, random, 40);
        Run(node, first, 40);
        first.Kill();
        var second = new CountingApp(node, random, 40) { WrongFrom = 20 };
        Assert.Throws<DivergenceException>(() => Run(node, second, 40));
    }

    /// <summary>
    /// The coordinator dies as well, so that only its log knows what the app has called itself with, and there is no digest yet.
    /// </summary>
    [Theory]
    [InlineData(1)]
    [InlineData(20)]
    [InlineData(38)]
    public void Start_ReplayThatDoublesACallToItself_DivergesBeforeAnythingOpens(ulong doubled)
    {
        var random = new SimulatedRandom(4);
        var disk = new SimulatedFileSystem();
        var time = new FakeTime();
        var node = new Node(disk, time, s_options);
        Run(node, new CountingApp(node, random, 40), 40);
        node.Kill();
        var again = new Node(disk, time, s_options);
        var second = new CountingApp(again, random, 40) { DoublesAfter = doubled };
        var diverged = Assert.Throws<DivergenceException>(() => Run(again, second, 40));
        Assert.Contains("on the channel to self", diverged.Message);
        Assert.False(again.Parts.IsPrimary);
        Assert.Equal(Lsn.Zero, again.Parts.Execution.Digests.Diverged!.From);
    }

    [Fact]
    public void Session_SecondWhileOneLives_IsRefused()
    {
        var random = new SimulatedRandom(4);
        var node = new Node(new SimulatedFileSystem(), new FakeTime(), s_options);
        var first = new CountingApp(node, random, 10);
        Run(node, first, 10);
        var second = new CountingApp(node, random, 10);
        var left = Assert.Throws<AppLeftException>(() => Run(node, second, 10));
        Assert.Equal(GoodbyeCode.Refused, left.Goodbye.Code);
        second.Session.End("refused");
        Assert.Same(first.Session, node.Parts.Sessions.Live);
    }

    /// <summary>An app that has shown its token waits for the one before, until that has ended or patience has.</summary>
    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void Session_PatientWhileOneLives_BeginsWhenThatEndsOrIsRefused(bool firstEnds)
    {
        var random = new SimulatedRandom(4);
        var node = new Node(new SimulatedFileSystem(), new FakeTime(), s_options);
        var first = new CountingApp(node, random, 10);
        Run(node, first, 10);
        AppSession session = node.Parts.NewSession(static () => { });
        session.IsPatient = true;
        using AppReader reader = session.NewReader();
        Assert.Equal(ReadAnswer.AppIsLive, Hello(reader, Node.Token));
        Assert.Equal(ReadAnswer.AppIsLive, reader.Continue());
        Assert.Equal((false, true), (session.HasBegun, session.IsStranger));
        if (firstEnds) first.Kill();
        else session.IsPatient = false;
        if (!firstEnds) Assert.Contains("one app at a time", Assert.Throws<AppLeftException>(() => reader.Continue()).Message);
        else Assert.Equal(ReadAnswer.More, reader.Continue());
        Assert.Equal(firstEnds, session.HasBegun);
        session.End("done");
    }

    /// <summary>Who does not know the token waits for nobody.</summary>
    [Fact]
    public void Session_StrangerWhileOneLives_IsRefusedAtOnce()
    {
        var node = new Node(new SimulatedFileSystem(), new FakeTime(), s_options);
        Run(node, new CountingApp(node, new SimulatedRandom(4), 10), 10);
        AppSession session = node.Parts.NewSession(static () => { });
        session.IsPatient = true;
        using AppReader reader = session.NewReader();
        Assert.Equal("the token is wrong", Assert.Throws<AppLeftException>(() => Hello(reader, new byte[32])).Message);
    }

    private static ReadAnswer Hello(AppReader reader, byte[] token)
    {
        byte[] hello = Made.Frame(new AppHello(1, 1, token, 1, 0, "test", "test", "", "", 0, 1));
        hello.CopyTo(reader.Space());
        return reader.Received(hello.Length);
    }

    [Fact]
    public void Session_WithAWrongToken_IsRefusedAndLeavesTheWayFree()
    {
        var node = new Node(new SimulatedFileSystem(), new FakeTime(), s_options);
        AppSession session = node.Parts.NewSession(static () => { });
        using AppReader reader = session.NewReader();
        byte[] hello = Made.Frame(new AppHello(1, 1, new byte[32], 1, 0, "test", "test", "", "", 0, 1));
        hello.CopyTo(reader.Space());
        Assert.Throws<AppLeftException>(() => reader.Received(hello.Length));
        Assert.True(session.TryTake(out ReadOnlyMemory<byte> bytes));
        Assert.Equal(FrameType.Goodbye, Assert.Single(Made.FramesOf(bytes.Span, 0, false)).Type);
        session.End("refused");
        Assert.Null(node.Parts.Sessions.Live);
        Run(node, new CountingApp(node, new SimulatedRandom(1), 5), 5);
    }

    [Fact]
    public void Heartbeat_BeforeTheWelcome_IsNotSent()
    {
        AppSession session = new Node(new SimulatedFileSystem(), new FakeTime(), s_options).Parts.NewSession(static () => { });
        session.SendHeartbeat();
        Assert.False(session.TryTake(out _));
    }

    /// <summary>The log is full whenever the app stands at a digest position: none is left out.</summary>
    [Fact]
    public void Digest_WhileTheLogIsFull_IsLoggedLater()
    {
        var node = new Node(new SimulatedFileSystem(), new FakeTime(), s_options with { SegmentBytes = 8 << 20 });
        var app = new CountingApp(node, new SimulatedRandom(4), 600);
        byte[] filling = RecordKinds.Encode(
            new DigestRecord(Lsn.Zero,
                [.. Enumerable.Range(0, 60).Select(static i => new DigestEntry(new InstanceId($"filling-{i}"), 1, 1))]));
        byte[] nothing = RecordKinds.Encode(new TrimRecord([]));
        var appender = new LogAppender(ReplicaLog.Of(node.Parts.Log), node.Parts.Log.ReserveBytesMax, static _ => { });
        int full = 0;
        for (int step = 0; app.Executed < 600 || !app.IsQuiet; step++)
        {
            Assert.True(step < 100_000, "it comes to rest");
            bool fills = step % 3 == 0 && node.Parts.IsPrimary && node.Parts.Log.Tail.Value < 5 << 20;
            while (fills && appender.TryAppend(RecordKind.Digest, filling, out _)) { }
            while (fills && appender.TryAppend(RecordKind.Trim, nothing, out _)) { }
            if (fills) full++;
            app.Step();
            if (step % 2 == 0) node.Commit();
        }
        node.Parts.Tick(isQuiet: false);
        node.Commit();
        List<(Lsn Lsn, DigestRecord? Digest)> all = node.Records();
        var positions = all.Select(static r => r.Digest?.Position).OfType<Lsn>().Where(static position => position > Lsn.Zero).ToList();
        var due = new List<Lsn>();
        for (ulong multiple = 1 << 20; multiple <= node.Parts.Execution.Progress.Processed.Value; multiple += 1 << 20)
            due.Add(all.First(r => r.Lsn.Value >= multiple).Lsn);
        Assert.True(due.Count >= 3 && full > 50, $"{due.Count} positions, {full} times full");
        Assert.Equal(due, positions);
    }

    private static void Run(Node node, CountingApp app, ulong last)
    {
        for (int step = 0; app.Executed < last || !app.IsQuiet; step++)
        {
            Assert.True(step < 100_000, "it comes to rest");
            app.Step();
            node.Commit();
        }
    }

    private static Channel Expected()
    {
        var channel = new Channel();
        for (ulong n = 1; n <= Last; n++) channel.Add(MessageKind.Fork, CountingApp.PeerCall(n));
        return channel;
    }

    /// <summary>Plays a peer that has the first calls already and takes the rest.</summary>
    private static List<byte[]> Fetch(Node node, Channel expected, ulong have)
    {
        PeerLink link = node.Parts.Links.New(null, new LinkTransport(Seed, "peer"))!;
        var hello = new Hello(1, 1, Guid.Parse("99999999-8888-7777-6666-555555555555"), OutboxBench.Peer, "r0", new Epoch(1), 1, "self",
            Guid.Empty, default, have, expected.Positions[(int)have].Hash, 0, default, 0, 1 << 20);
        link.Feed(Made.Frame(hello, Seed, checkPayload: true), true, out _);
        var messages = new List<byte[]>();
        for (int round = 0; round < 1000; round++)
        {
            if (!link.TryTake(out ReadOnlyMemory<byte> bytes)) { node.Commit(); continue; }
            foreach ((FrameType type, byte[] payload) in Made.FramesOf(bytes.Span, Seed, checkPayload: true))
            {
                if (type == FrameType.Hello) link.Feed(Made.Frame(FrameType.Ready, [], Seed, checkPayload: true), true, out _);
                if (type == FrameType.Run) messages.AddRange(Made.MessagesOf(RunView.Read(payload)));
            }
            link.Taken(bytes.Length);
        }
        link.Ended("done");
        return messages;
    }
}
