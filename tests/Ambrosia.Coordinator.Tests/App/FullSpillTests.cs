using Ambrosia.Protocol;
using Ambrosia.TestKit;

namespace Ambrosia.Coordinator.Tests;

/// <summary>
/// Memory and scratch file are full: the app waits, and it is what the peer has that lets it go on. Its own reports cannot: they stand
/// behind the run that waits.
/// </summary>
public sealed class FullSpillTests
{
    private const long SpillBytes = 2 << 20;
    private const uint Seed = 9, RunCalls = 4, CallBytes = 16_000;
    private const int RunsMax = 300;

    private static readonly Guid peerUuid = Guid.Parse("99999999-8888-7777-6666-555555555555");

    private readonly SimulatedFileSystem disk = new();
    private readonly FakeTime time = new();
    private readonly Channel channel = new();
    private readonly Node node;
    private readonly SpokenApp app;

    public FullSpillTests()
    {
        node = new Node(disk, time, OpenedLog.Small with { SegmentBytes = 8 << 20 }, SpillBytes);
        app = new SpokenApp(node);
        app.Lead();
        app.Say(new DestinationFrame(0, OutboxBench.Peer));
    }

    [Fact]
    public void Run_WhileTheSpillIsFull_WaitsForThePeerAndNotForTheApp()
    {
        ulong made = Fill();
        Assert.Equal(ReadAnswer.OutboxFull, app.Again());
        Assert.Equal(ReadAnswer.OutboxFull, app.Again()); // nobody takes anything

        Peer peer = TakeUntilTheAppGoesOn();
        while (peer.Received < made) peer.Step();
        Assert.Equal(made, peer.Received);
    }

    /// <summary>Its acknowledgement came when there was room still, and none follows: what it said then counts now.</summary>
    [Fact]
    public void Run_WhileTheSpillIsFullOfWhatThePeerHas_GoesOnAtOnce()
    {
        var peer = new Peer(node, channel);
        ReadAnswer answer = ReadAnswer.More;
        for (int i = 0; i < RunsMax && answer == ReadAnswer.More; i++)
        {
            answer = app.Say(NextRun());
            while (peer.Received < channel.Count && answer == ReadAnswer.More) peer.Step();
        }
        Assert.Equal(ReadAnswer.More, answer);
    }

    /// <summary>
    /// What is for one that is being forgotten is dropped at once, so that the app comes to that place; and no disk beyond
    /// the limit is taken for it.
    /// </summary>
    [Fact]
    public void Run_WhileTheSpillIsFullForOneWhoIsForgotten_GoesOnToThatPlace()
    {
        var peer = new Peer(node, channel);
        while (!peer.IsOpen) peer.Step();
        peer.End();
        Fill();
        Assert.Equal(ReadAnswer.OutboxFull, app.Again());
        node.Forget(OutboxBench.Peer);
        Assert.Equal(ReadAnswer.More, app.Again());
        for (int i = 0; i < RunsMax; i++) Assert.Equal(ReadAnswer.More, app.Say(NextRun()));
        Assert.InRange(node.SpilledBytes, 0, SpillBytes);
    }

    /// <summary>
    /// Below the limit, and the disk is full: the app waits, the end of the disk is the log's, and with space it goes on.
    /// </summary>
    [Fact]
    public void Run_WhileTheDiskIsFull_WaitsForSpace()
    {
        disk.CapacityBytes = TakenBytes + node.DiskLeftBytes + SpillBytes / 2;
        Fill();
        Assert.InRange(node.SpilledBytes, SpillBytes / 4, SpillBytes / 2);
        Assert.Equal(ReadAnswer.OutboxFull, app.Again());
        Assert.InRange(disk.FreeBytes(Node.Directory), node.DiskLeftBytes, long.MaxValue);
        disk.CapacityBytes += SpillBytes / 4;
        Assert.Equal(ReadAnswer.More, app.Again());
        Fill();
        TakeUntilTheAppGoesOn();
    }

    private long TakenBytes => disk.CapacityBytes - disk.FreeBytes(Node.Directory);

    /// <summary>Once it lasts, and not when it was short; and once again when it is over.</summary>
    [Fact]
    public void Wait_ThatLasts_IsSaidOnceWithTheReason()
    {
        Fill();
        Pass(OutputWait.LastsMin / 2);
        Assert.DoesNotContain(node.Lines, IsAboutOutputs);
        Pass(OutputWait.LastsMin);
        Pass(OutputWait.LastsMin / 4); // no longer, or it would look at the fence before it speaks to anybody
        string line = Assert.Single(node.Lines, IsAboutOutputs);
        Assert.Contains("most of it for peer, and more may not be kept", line);
        Assert.Contains($"ambrosia forget-peer {Node.Directory} NAME", line);
        TakeUntilTheAppGoesOn();
        Pass(OutputWait.LastsMin * 2);
        Assert.Equal("outputs go on: there is room for them again", node.Lines.Last(IsAboutOutputs));
        Assert.Equal(2, node.Lines.Count(IsAboutOutputs));
    }

    private static bool IsAboutOutputs(string line) => line.StartsWith("outputs ", StringComparison.Ordinal);

    private void Pass(TimeSpan all)
    {
        for (TimeSpan passed = default; passed < all; passed += LookEvery)
        {
            app.Again();
            node.Parts.OutputWait.Tick();
            time.Advance(LookEvery);
        }
    }

    private static readonly TimeSpan LookEvery = TimeSpan.FromMilliseconds(20);

    private Peer TakeUntilTheAppGoesOn()
    {
        var peer = new Peer(node, channel);
        for (int round = 0; app.Again() == ReadAnswer.OutboxFull; round++)
        {
            Assert.True(round < 10_000, $"the app waits though the peer has {peer.Received} of {channel.Count} calls");
            peer.Step();
        }
        return peer;
    }

    /// <summary>Until the app waits; returns how many calls it has made.</summary>
    private ulong Fill()
    {
        for (int i = 0; i < RunsMax; i++)
            if (app.Say(NextRun()) != ReadAnswer.More) return channel.Count;
        throw new InvalidOperationException("the spill is never full");
    }

    private byte[] NextRun()
    {
        byte[][] calls = [
            .. Enumerable.Range(0, (int)RunCalls).Select(_ => Made.Message(MessageKind.Fork, channel.Count + 1, (int)CallBytes))];
        foreach (byte[] call in calls) channel.Add(MessageKind.Fork, call);
        return Made.Frame(FrameType.Run, Made.Run(MessageKind.Fork, 0, 0, calls));
    }

    /// <summary>Takes what it is given and acknowledges it at once.</summary>
    private sealed class Peer
    {
        private readonly Node node;
        private readonly PeerLink link;

        public Peer(Node node, Channel channel)
        {
            this.node = node;
            link = node.Parts.NewLink(null, Seed, "peer")!;
            link.Feed(
                Made.Frame(
                    new Hello(1, 1, peerUuid, OutboxBench.Peer, "r0", new Epoch(1), 1, "self", Guid.Empty, default, 0,
                        channel.Positions[0].Hash, 0, default, 0, 1 << 20), Seed, checkPayload: true), true, out _);
        }

        public ulong Received { get; private set; }

        public bool IsOpen => link.IsOpen;

        public void End() => link.Ended("over");

        public void Step()
        {
            node.Commit();
            if (!link.TryTake(out ReadOnlyMemory<byte> bytes)) return;
            foreach ((FrameType type, byte[] payload) in Made.FramesOf(bytes.Span, Seed, checkPayload: true))
            {
                if (type == FrameType.Hello) link.Feed(Made.Frame(FrameType.Ready, [], Seed, checkPayload: true), true, out _);
                if (type == FrameType.Run) Received = RunView.Read(payload).Header.Last;
            }
            link.Taken(bytes.Length);
            if (Received > 0) link.Feed(Made.Frame(new Ack(Received, default, 0), Seed, checkPayload: true), true, out _);
        }
    }
}
