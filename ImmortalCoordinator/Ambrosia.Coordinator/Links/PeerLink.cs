using Ambrosia.Coordinator.Framing;
using Ambrosia.Coordinator.Inbox;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Locking;
using CRA.Links;

namespace Ambrosia.Coordinator.Links;

/// <summary>
/// One connection to one peer: first its <see cref="LinkOpening"/>, then runs in and out and acknowledgements, which are its
/// <see cref="LinkExchange"/>. Control goes before data. Two threads of the connection use it, and those that report durable inputs; what
/// they share is under one lock.
/// </summary>
internal sealed class PeerLink : ILinkTraffic, ILinkFrames, IInboundLink
{
    private readonly RankedLock _gate = new(LockRank.PeerLink);
    private readonly LinkTransport _transport;
    private readonly LinkOpening _opening;
    private readonly LinkReport _report;
    private readonly LinkTable _table;
    private readonly PeerChannels _channels;
    private readonly LinkFlow _flow;
    private readonly LinkFrames _frames;
    private readonly LinkOutput _output;

    /// <summary>It is null until the link is open.</summary>
    private LinkExchange? _exchange;

    public PeerLink(
        LinkTransport transport, LinkOpening opening, LinkReport report, LinkTable table, PeerChannels channels, LinkFlow flow)
    {
        _transport = transport;
        _opening = opening;
        _report = report;
        _table = table;
        _channels = channels;
        _flow = flow;
        _output = new LinkOutput(transport.Seed);
        _frames = new LinkFrames(
            transport.Seed, opening.IsDialler ? FrameSender.Acceptor : FrameSender.Dialler, this, flow.WakeCommitter);
    }

    /// <summary>The peer that was dialled. It is null for a connection that came in.</summary>
    public InstanceId? Expected => _opening.Expected;

    public ulong Nonce => _opening.Nonce;

    public string Remote => _transport.Remote;

    /// <summary>The peer at the other end. It is null until its hello was accepted.</summary>
    public InstanceId? Peer => _opening.Peer;

    /// <summary>The rank of this connection among others to the same peer; it is known with <see cref="Peer"/>.</summary>
    public LinkRank Rank => _opening.Rank;

    public bool IsOpen { get { using (_gate.Enter()) return _opening.IsOpen; } }

    /// <summary>Nothing may go out in front of the hello, and nothing at all while the flow is stopped.</summary>
    public ReadOnlyMemory<byte> HeartbeatFrame => IsOpen && _flow.MayEmit ? _output.Heartbeat : default;

    public int FrameBytesWanted => _frames.BytesWanted;

    /// <summary>Wakes the connection's sender. Any thread.</summary>
    public void Wake()
    {
        LockChecks.BeforeCallOut();
        _transport.Wake();
    }

    /// <summary>Ends the connection from outside. Any thread.</summary>
    public void Close(string why)
    {
        LockChecks.BeforeCallOut();
        _transport.Close(why);
    }

    // ---- in ----

    public FeedResult Feed(ReadOnlySpan<byte> bytes, bool drained, out int consumed) => _frames.Feed(bytes, drained, out consumed);

    bool ILinkFrames.IsOver => _opening.Stage == LinkStage.Refused;

    uint ILinkFrames.PayloadBytesMax => _opening.PayloadBytesMax;

    void ILinkFrames.Broken(ProtocolViolation violation) => _report.Broken(violation);

    FeedResult ILinkFrames.Take(FrameType type, ReadOnlySpan<byte> payload, bool isAgain)
    {
        switch (type)
        {
            case FrameType.Run: return TakeRun(payload, isAgain);
            case FrameType.Ack: TakeAck(Ack.Read(payload)); return FeedResult.Continue;
            case FrameType.Heartbeat: FrameReader.ReadEmpty(type, payload); return FeedResult.Continue;
            case FrameType.Hello: return TakeHello(Hello.Read(payload));
            case FrameType.Ready: FrameReader.ReadEmpty(type, payload); TakeReady(); return FeedResult.Continue;
            case FrameType.Goodbye: _report.ToldGoodbye(Goodbye.Read(payload)); return FeedResult.Close;
            default: throw new ProtocolViolation("P2.4", $"{type} on a link");
        }
    }

    private FeedResult TakeRun(ReadOnlySpan<byte> payload, bool isAgain)
    {
        if (!_opening.IsOpen) throw new ProtocolViolation("P6.1", "run before the hellos are exchanged");
        return _exchange!.TryTakeRun(payload, isAgain) ? FeedResult.Continue : FeedResult.NoRoom;
    }

    private void TakeAck(in Ack ack)
    {
        if (!_opening.IsOpen) throw new ProtocolViolation("P6.1", "ack before the hellos are exchanged");
        _exchange!.Take(ack);
    }

    private FeedResult TakeHello(Hello hello)
    {
        HelloVerdict verdict = _opening.Judge(hello, out string why);
        if (verdict != HelloVerdict.Accept)
        {
            if (_opening.IsKnown(hello.Instance)) _report.Claims(hello.Instance);
            if (verdict is HelloVerdict.RefuseOlder or HelloVerdict.StopOlder)
                using (_gate.Enter()) _opening.SayWhatWasSeen(hello, _output.Control);
            Refuse(why, _opening.Refused(hello.Instance, verdict, why));
            return FeedResult.Close;
        }
        using (_gate.Enter()) _opening.Accept(hello);
        _table.Offer(this);
        return FeedResult.Continue;
    }

    /// <summary>No other connection to this peer is in use.</summary>
    public void TakeTurn()
    {
        bool isOurs;
        string? why;
        using (_gate.Enter()) isOurs = _opening.TryTakeTurn(this, out why);
        if (isOurs) Wake();
        if (why is null) return;
        Refuse(why);
        LockChecks.BeforeCallOut();
        _transport.CloseAfterSending($"refused: {why}");
    }

    /// <summary>The connection ends with a Goodbye; whoever calls it closes.</summary>
    private void Refuse(string why, PeerEvent happened = PeerEvent.Refused)
    {
        using (_gate.Enter()) _opening.Refuse(why, _output.Control);
        _report.Refused(why, happened);
        Wake();
    }

    private void TakeReady()
    {
        _opening.CheckReady();
        using (_gate.Enter()) Open();
        Wake();
        CountHello();
    }

    /// <summary>Opens the exchange. The caller holds the lock, and wakes the link behind it.</summary>
    private void Open()
    {
        _exchange = _channels.Open(_opening.Origin!, _opening.Theirs, _transport.Seed); // before the stage says that it is there
        _opening.Opened();
        _table.Opened(this);
    }

    /// <summary>
    /// What the peer's hello says that it has is acknowledged: an Ack may have been lost with the connection before. Outside the lock.
    /// </summary>
    private void CountHello() => _exchange!.Take(new Ack(_opening.Theirs.Durable, _opening.Theirs.ImpulseEpoch, _opening.Theirs.Impulses));

    public void WaitForRoom(CancellationToken stop) => _flow.WaitForRoom(stop);

    // ---- out ----

    public bool TryTake(out ReadOnlyMemory<byte> bytes)
    {
        bytes = default;
        if (!_flow.MayEmit) return false;
        bool isOpen, hasOpened, isControl;
        using (_gate.Enter())
        {
            hasOpened = _opening.Advance(this, _output.Control);
            if (hasOpened) Open();
            isOpen = _opening.IsOpen;
            if (isOpen) _exchange!.PayAck(_output.Control);
            isControl = _output.TryTakeControl(out bytes);
        }
        if (hasOpened)
        {
            Wake();
            CountHello();
        }
        if (isControl || !isOpen) return isControl;
        return _output.TryTakeRuns(_exchange!, out bytes) || (_exchange!.TooLong > 0 && TakeStop(out bytes));
    }

    /// <summary>The next message is longer than the peer takes (P6.11): the link stops, with the reason to both operators.</summary>
    private bool TakeStop(out ReadOnlyMemory<byte> bytes)
    {
        uint tooLong = _exchange!.TooLong;
        string why =
            $"{Peer} takes messages of at most {_opening.Theirs.MessageBytesMax} bytes, one of {tooLong} is next: give it a larger limit (P6.11)";
        _table.Stop(Peer!.Value, why, tooLong);
        Refuse(why, PeerEvent.Stopped);
        LockChecks.BeforeCallOut();
        _transport.CloseAfterSending(why);
        using (_gate.Enter()) return _output.TryTakeControl(out bytes);
    }

    public void Taken(int bytes) => _output.Sent(bytes, _exchange);

    /// <summary>Inputs of this peer have become durable, or the log has: there may be something to say.</summary>
    public void DurableAdvanced()
    {
        using (_gate.Enter())
        {
            if (_exchange is { } open && open.OweAck() && _opening.IsOpen)
            {
                _channels.LateAcks.Add(this);
                return;
            }
        }
        Wake();
    }

    /// <summary>Both threads of the connection have stopped.</summary>
    public void Ended(string why)
    {
        _report.Ended(why, wasOpen: _exchange is not null);
        using (_gate.Enter()) _opening.End();
        _exchange?.End();
        _opening.Disconnect(this);
        _channels.LateAcks.Remove(this);
        _table.Ended(this, _report.Refusal ?? why);
    }
}

/// <summary>
/// Knows what is under way on one connection to a peer. It owns the control frames that wait, and tells whether the bytes that were taken
/// last are control frames or runs. The link's lock guards the control frames; the rest is the out thread's.
/// </summary>
internal sealed class LinkOutput(uint seed)
{
    private bool _controlTaken, _runsTaken;
    private int _bytesLeft;

    /// <summary>The frames that go before any run.</summary>
    public FrameQueue Control { get; } = new(seed, checkPayload: true);

    public ReadOnlyMemory<byte> Heartbeat { get; } = LinkFrames.Heartbeat(seed);

    /// <summary>Takes the control frames that wait. The link's lock is held.</summary>
    public bool TryTakeControl(out ReadOnlyMemory<byte> bytes)
    {
        _controlTaken = Control.TryTake(out bytes);
        _bytesLeft = bytes.Length;
        return _controlTaken;
    }

    /// <summary>Takes the runs that are next.</summary>
    public bool TryTakeRuns(LinkExchange exchange, out ReadOnlyMemory<byte> bytes)
    {
        _runsTaken = exchange.TryTakeRuns(out bytes);
        _bytesLeft = bytes.Length;
        return _runsTaken;
    }

    /// <summary>So many of the bytes that were taken have been sent.</summary>
    /// <param name="exchange">Null while the link is not open.</param>
    public void Sent(int bytes, LinkExchange? exchange)
    {
        _bytesLeft -= bytes;
        if (_bytesLeft > 0) { if (_runsTaken) Crash.Hit("out.partialSend"); return; }
        if (_runsTaken) exchange!.Sent();
        else if (_controlTaken && exchange is { HasAcknowledged: true }) Crash.Hit("ack.afterSend");
        _controlTaken = _runsTaken = false;
    }
}
