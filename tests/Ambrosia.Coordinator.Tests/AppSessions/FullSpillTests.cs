using Ambrosia.Coordinator.Framing;
using Ambrosia.Coordinator.AppSessions;
using Ambrosia.Coordinator.Links;
using Ambrosia.Coordinator.Outboxes;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Runs;
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

    private static readonly Guid s_peerUuid = Guid.Parse("99999999-8888-7777-6666-555555555555");

    private readonly SimulatedFileSystem _disk = new();
    private readonly FakeTime _time = new();
    private readonly Channel _channel = new();
    private readonly Node _node;
    private readonly SpokenApp _app;

    public FullSpillTests()
    {
        _node = new Node(_disk, _time, OpenedLog.Small with { SegmentBytes = 8 << 20 }, SpillBytes);
        _app = new SpokenApp(_node);
        _app.BecomePrimary();
        _app.Send(new DestinationFrame(0, OutboxBench.Peer));
    }

    [Fact]
    public void Run_WhileTheSpillIsFull_WaitsForThePeerAndNotForTheApp()
    {
        ulong made = Fill();
        Assert.Equal(ReadAnswer.OutboxFull, _app.Again());
        Assert.Equal(ReadAnswer.OutboxFull, _app.Again()); // nobody takes anything

        Peer peer = TakeUntilTheAppGoesOn();
        while (peer.Received < made) peer.Step();
        Assert.Equal(made, peer.Received);
    }

    /// <summary>Its acknowledgement came when there was room still, and none follows: what it said then counts now.</summary>
    [Fact]
    public void Run_WhileTheSpillIsFullOfWhatThePeerHas_GoesOnAtOnce()
    {
        var peer = new Peer(_node, _channel);
        ReadAnswer answer = ReadAnswer.More;
        for (int i = 0; i < RunsMax && answer == ReadAnswer.More; i++)
        {
            answer = _app.Send(NextRun());
            while (peer.Received < _channel.Count && answer == ReadAnswer.More) peer.Step();
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
        var peer = new Peer(_node, _channel);
        while (!peer.IsOpen) peer.Step();
        peer.End();
        Fill();
        Assert.Equal(ReadAnswer.OutboxFull, _app.Again());
        _node.Forget(OutboxBench.Peer);
        Assert.Equal(ReadAnswer.More, _app.Again());
        for (int i = 0; i < RunsMax; i++) Assert.Equal(ReadAnswer.More, _app.Send(NextRun()));
        Assert.InRange(_node.SpilledBytes, 0, SpillBytes);
    }

    /// <summary>
    /// Below the limit, and the disk is full: the app waits, the end of the disk is the log's, and with space it goes on.
    /// </summary>
    [Fact]
    public void Run_WhileTheDiskIsFull_WaitsForSpace()
    {
        _disk.CapacityBytes = TakenBytes + _node.DiskLeftBytes + SpillBytes / 2;
        Fill();
        Assert.InRange(_node.SpilledBytes, SpillBytes / 4, SpillBytes / 2);
        Assert.Equal(ReadAnswer.OutboxFull, _app.Again());
        Assert.InRange(_disk.FreeBytes(Node.Directory), _node.DiskLeftBytes, long.MaxValue);
        _disk.CapacityBytes += SpillBytes / 4;
        Assert.Equal(ReadAnswer.More, _app.Again());
        Fill();
        TakeUntilTheAppGoesOn();
    }

    private long TakenBytes => _disk.CapacityBytes - _disk.FreeBytes(Node.Directory);

    /// <summary>Once it lasts, and not when it was short; and once again when it is over.</summary>
    [Fact]
    public void Wait_ThatLasts_IsSaidOnceWithTheReason()
    {
        Fill();
        Pass(OutputBackpressure.LastsMin / 2);
        Assert.DoesNotContain(_node.Lines, IsAboutOutputs);
        Pass(OutputBackpressure.LastsMin);
        Pass(OutputBackpressure.LastsMin / 4); // no longer, or it would look at the fence before it speaks to anybody
        string line = Assert.Single(_node.Lines, IsAboutOutputs);
        Assert.Contains("most of it for peer, and more may not be kept", line);
        Assert.Contains($"ambrosia forget-peer {Node.Directory} NAME", line);
        TakeUntilTheAppGoesOn();
        Pass(OutputBackpressure.LastsMin * 2);
        Assert.Equal("outputs go on: there is room for them again", _node.Lines.Last(IsAboutOutputs));
        Assert.Equal(2, _node.Lines.Count(IsAboutOutputs));
    }

    private static bool IsAboutOutputs(string line) => line.StartsWith("outputs ", StringComparison.Ordinal);

    private void Pass(TimeSpan all)
    {
        for (TimeSpan passed = default; passed < all; passed += s_lookEvery)
        {
            _app.Again();
            _node.Parts.Outputs.Backpressure.Tick();
            _time.Advance(s_lookEvery);
        }
    }

    private static readonly TimeSpan s_lookEvery = TimeSpan.FromMilliseconds(20);

    private Peer TakeUntilTheAppGoesOn()
    {
        var peer = new Peer(_node, _channel);
        for (int round = 0; _app.Again() == ReadAnswer.OutboxFull; round++)
        {
            Assert.True(round < 10_000, $"the app waits though the peer has {peer.Received} of {_channel.Count} calls");
            peer.Step();
        }
        return peer;
    }

    /// <summary>Until the app waits; returns how many calls it has made.</summary>
    private ulong Fill()
    {
        for (int i = 0; i < RunsMax; i++)
            if (_app.Send(NextRun()) != ReadAnswer.More) return _channel.Count;
        throw new InvalidOperationException("the spill is never full");
    }

    private byte[] NextRun()
    {
        byte[][] calls = [
            .. Enumerable.Range(0, (int)RunCalls).Select(_ => Made.Message(MessageKind.Fork, _channel.Count + 1, (int)CallBytes))];
        foreach (byte[] call in calls) _channel.Add(MessageKind.Fork, call);
        return Made.Frame(FrameType.Run, Made.Run(MessageKind.Fork, 0, 0, calls));
    }

    /// <summary>Takes what it is given and acknowledges it at once.</summary>
    private sealed class Peer
    {
        private readonly Node _node;
        private readonly PeerLink _link;

        public Peer(Node node, Channel channel)
        {
            _node = node;
            _link = node.Parts.Links.New(null, new LinkTransport(Seed, "peer"))!;
            _link.Feed(
                Made.Frame(
                    new Hello(1, 1, s_peerUuid, OutboxBench.Peer, "r0", new Epoch(1), 1, "self", Guid.Empty, default, 0,
                        channel.Positions[0].Hash, 0, default, 0, 1 << 20), Seed, checkPayload: true), true, out _);
        }

        public ulong Received { get; private set; }

        public bool IsOpen => _link.IsOpen;

        public void End() => _link.Ended("over");

        public void Step()
        {
            _node.Commit();
            if (!_link.TryTake(out ReadOnlyMemory<byte> bytes)) return;
            foreach ((FrameType type, byte[] payload) in Made.FramesOf(bytes.Span, Seed, checkPayload: true))
            {
                if (type == FrameType.Hello) _link.Feed(Made.Frame(FrameType.Ready, [], Seed, checkPayload: true), true, out _);
                if (type == FrameType.Run) Received = RunView.Read(payload).Header.Last;
            }
            _link.Taken(bytes.Length);
            if (Received > 0) _link.Feed(Made.Frame(new Ack(Received, default, 0), Seed, checkPayload: true), true, out _);
        }
    }
}
