using Ambrosia.Protocol;
using Ambrosia.TestKit;

namespace Ambrosia.Coordinator.Tests;

/// <summary>
/// Memory and scratch file are full: the app waits, and it is what the peer has that lets it go on. Its own reports cannot: they stand behind
/// the run that waits.
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

        var peer = new Peer(node, channel);
        for (int round = 0; app.Again() == ReadAnswer.OutboxFull; round++)
        {
            Assert.True(round < 10_000, $"the app waits though the peer has {peer.Received} of {made} calls");
            peer.Step();
        }
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

    /// <summary>The app reports what it has executed before it goes on waiting, and is asked for nothing else while an operator's word is on its way to it.</summary>
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
        byte[][] calls = [.. Enumerable.Range(0, (int)RunCalls).Select(_ => Made.Message(MessageKind.Fork, channel.Count + 1, (int)CallBytes))];
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
            link.Feed(Made.Frame(new Hello(1, 1, peerUuid, OutboxBench.Peer, "r0", new Epoch(1), 1, "self", Guid.Empty, default, 0, channel.Positions[0].Hash, 0, default, 0, 1 << 20), Seed, checkPayload: true), true, out _);
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
