using System.Buffers;
using Ambrosia.Protocol;
using CRA;

namespace Ambrosia.Coordinator;

/// <summary>
/// One connection to one peer: hello, then runs in and out and acknowledgements. Control goes before data.
/// Owns the conversation's stage and the control bytes under way. Two threads of the connection, and those that report durable
/// inputs; what they share is under one lock. Invariant: nothing but hello and ready is sent before the stage is Open.
/// </summary>
internal sealed class PeerLink : ILinkTraffic
{
    private enum Stage { SendHello, AwaitHello, AwaitTurn, AwaitRecord, AwaitReady, Open, Ended }

    private readonly Lock gate = new();
    private readonly LinkParts parts;
    private readonly bool isDialler;
    private readonly uint seed;
    private readonly ControlFrames control;
    private readonly byte[] heartbeat;
    private Stage stage;
    private Hello? theirs;
    private Origin? origin;
    private OutboundLink? outbound;
    private InboundRuns? inbound;
    private InputPosition acked;
    private bool controlTaken, dataTaken, ackOwed, isSaid;
    private int bytesWanted, bytesLeft;

    public PeerLink(LinkParts parts, InstanceId? expected, uint seed, ulong nonce, string remote)
    {
        this.parts = parts;
        this.seed = seed;
        isDialler = expected is not null;
        Expected = expected;
        Nonce = nonce;
        Remote = remote;
        control = new ControlFrames(seed, checkPayload: true);
        stage = isDialler ? Stage.SendHello : Stage.AwaitHello;
        var frame = new ArrayBufferWriter<byte>();
        Frames.Write(frame, FrameType.Heartbeat, [], seed, checkPayload: true);
        heartbeat = frame.WrittenSpan.ToArray();
    }

    public InstanceId? Expected { get; }

    public ulong Nonce { get; private set; }

    public string Remote { get; }

    /// <summary>Known after the hello.</summary>
    public InstanceId? Peer { get; private set; }

    public LinkRank Rank { get; private set; }

    public bool IsOpen { get { lock (gate) return stage == Stage.Open; } }

    /// <summary>Wakes the connection's sender; set by who runs the connection.</summary>
    public Action Wake { get; set; } = static () => { };

    /// <summary>Ends the connection from outside.</summary>
    public Action<string> Close { get; set; } = static _ => { };

    /// <summary>Nothing may go out in front of the hello.</summary>
    public ReadOnlyMemory<byte> HeartbeatFrame => IsOpen ? heartbeat : default;

    public int FrameBytesWanted => bytesWanted;

    // ---- in ----

    public FeedAnswer Feed(ReadOnlySpan<byte> bytes, bool drained, out int consumed)
    {
        consumed = 0;
        var answer = FeedAnswer.Close;
        try
        {
            return answer = FeedFrames(bytes, ref consumed);
        }
        catch (HelloRefused refused)
        {
            SayGoodbye(refused.Message);
            Say($"refused: {refused.Message}");
            return FeedAnswer.Close;
        }
        catch (ProtocolViolation violation)
        {
            Say($"closed: {violation.Message}");
            throw;
        }
        catch (LinkEnded)
        {
            return FeedAnswer.Close;
        }
        finally
        {
            parts.WakeCommitter(drained || answer != FeedAnswer.Continue); // what came before the end was taken all the same
        }
    }

    private FeedAnswer FeedFrames(ReadOnlySpan<byte> bytes, ref int consumed)
    {
        while (true)
        {
            uint payloadMax = stage is Stage.Open or Stage.AwaitReady or Stage.AwaitRecord or Stage.AwaitTurn ? parts.PayloadBytesMax : LinkParts.HelloBytesMax;
            DecodeStatus status = FrameReader.TryRead(
                bytes[consumed..], seed, payloadMax, checkPayload: true, out FrameHeader header, out ReadOnlySpan<byte> payload, out int size);
            if (status != DecodeStatus.Ok)
            {
                bytesWanted = bytes.Length - consumed >= FrameHeader.Bytes ? FrameHeader.Bytes + (int)header.Length : 0;
                return FeedAnswer.Continue;
            }
            FrameTypes.Check(header.Type, isDialler ? FrameSender.Acceptor : FrameSender.Dialler);
            if (!Take(header.Type, payload)) return FeedAnswer.NoRoom;
            consumed += size;
        }
    }

    private bool Take(FrameType type, ReadOnlySpan<byte> payload)
    {
        switch (type)
        {
            case FrameType.Run:
                if (stage != Stage.Open) throw new ProtocolViolation("P6.1", "run before the hellos are exchanged");
                return inbound!.TryTake(payload);
            case FrameType.Ack: TakeAck(Ack.Read(payload)); return true;
            case FrameType.Heartbeat: Frames.ReadEmpty(type, payload); return true;
            case FrameType.Hello: return TakeHello(Hello.Read(payload));
            case FrameType.Ready: Frames.ReadEmpty(type, payload); TakeReady(); return true;
            case FrameType.Goodbye: throw new LinkEnded(Goodbye.Read(payload).Why);
            default: throw new ProtocolViolation("P2.4", $"{type} on a link");
        }
    }

    private bool TakeHello(Hello hello)
    {
        if (stage != Stage.AwaitHello) throw new ProtocolViolation("P6.1", "hello out of turn");
        Crash.Hit("handshake.gotHello");
        InstanceId peer = hello.Instance;
        HelloVerdict verdict = HelloCheck.Judge(hello, parts.FactsFor(peer, Expected), out string why);
        if (verdict != HelloVerdict.Accept) throw parts.Refused(peer, verdict, why);
        theirs = hello;
        Peer = peer;
        if (!isDialler) Nonce = hello.Nonce;
        Rank = parts.RankOf(peer, hello.Epoch, Nonce, isDialler);
        lock (gate) stage = Stage.AwaitTurn;
        parts.Table.Offer(this);
        return true;
    }

    /// <summary>No other connection to this peer is in use: the peer's epoch goes to the log, if it is new there.</summary>
    public void TakeTurn()
    {
        lock (gate)
        {
            if (stage != Stage.AwaitTurn) return; // it broke while it waited, and has said so to the table
            origin = parts.Ledger.Admit(Peer!.Value, theirs!.Uuid, theirs.Epoch);
            stage = Stage.AwaitRecord;
            parts.Ledger.Connect(origin, this);
            parts.Awaiting.Add(this);
        }
        Wake();
    }

    private void TakeReady()
    {
        if (stage != Stage.AwaitReady) throw new ProtocolViolation("P6.1", "ready out of turn");
        Open();
    }

    private void Open()
    {
        inbound = new InboundRuns(parts.Log, parts.Ledger, origin!, parts.MessageBytesMax);
        outbound = new OutboundLink(parts.OutboxOf(Peer!.Value), seed);
        outbound.Resume(theirs!.Durable, theirs.ImpulseEpoch == parts.OwnEpoch ? theirs.Impulses : 0);
        lock (gate)
        {
            stage = Stage.Open;
            ackOwed = true; // what became durable since our hello was written was said to nobody, and comes again only to be dropped
        }
        parts.Table.Opened(this);
        Wake();
    }

    private void TakeAck(Ack ack)
    {
        if (stage != Stage.Open) throw new ProtocolViolation("P6.1", "ack before the hellos are exchanged");
        Outbox outbox = parts.OutboxOf(Peer!.Value);
        if (ack.Durable > outbox.Known.Number) throw new ProtocolViolation("P6.8", $"{ack.Durable} calls acknowledged of {outbox.Known.Number}");
        long bytes = outbound!.Acknowledged(ack.Durable);
        if (ack.Durable > outbox.Trimmed.Number) parts.Acknowledged(origin!, ack.Durable, bytes);
        if (ack.ImpulseEpoch == parts.OwnEpoch) parts.ImpulsesLogged(outbox, outbox.ImpulsesDurable(ack.Impulses));
    }

    public void WaitForRoom(CancellationToken stop) => parts.WaitForRoom(stop);

    // ---- out ----

    public bool TryTake(out ReadOnlyMemory<byte> bytes)
    {
        lock (gate)
        {
            Advance();
            if (control.TryTake(out bytes))
            {
                bytesLeft = bytes.Length;
                return controlTaken = true;
            }
            if (stage != Stage.Open) return false;
        }
        dataTaken = outbound!.TryTake(out bytes);
        bytesLeft = bytes.Length;
        return dataTaken;
    }

    /// <summary>Puts the control frames that are due now into the waiting bytes.</summary>
    private void Advance()
    {
        switch (stage)
        {
            case Stage.SendHello:
                control.Write(parts.HelloTo(Expected!.Value, Nonce));
                stage = Stage.AwaitHello;
                Crash.Hit("handshake.sentHello");
                break;
            case Stage.AwaitRecord when PeerIsDurable():
                parts.Awaiting.Remove(this);
                AnswerHello();
                break;
            case Stage.Open when ackOwed:
                ackOwed = false;
                InputPosition durable = parts.Ledger.DurableOf(origin!);
                if (durable == acked) break;
                Crash.Hit("ack.beforeSend");
                acked = durable;
                control.Write(new Ack(durable.Number, durable.ImpulseEpoch, durable.Impulses));
                break;
        }
    }

    /// <summary>The peer's epoch is in the log for good (model rule M4).</summary>
    private bool PeerIsDurable() => parts.Ledger.TryLog(origin!, parts.TryAppendPeer, out Lsn end) && parts.Durable >= end;

    private void AnswerHello()
    {
        if (isDialler)
        {
            control.WriteEmpty(FrameType.Ready);
            Open();
            return;
        }
        control.Write(parts.HelloTo(Peer!.Value, Nonce));
        stage = Stage.AwaitReady;
        Crash.Hit("handshake.sentHello");
    }

    public void Taken(int bytes)
    {
        bytesLeft -= bytes;
        if (bytesLeft > 0) { if (dataTaken) Crash.Hit("out.partialSend"); return; }
        if (dataTaken) outbound!.Taken();
        else if (controlTaken && acked != default) Crash.Hit("ack.afterSend");
        controlTaken = dataTaken = false;
    }

    /// <summary>Inputs of this peer have become durable, or the log has: there may be something to say.</summary>
    public void DurableAdvanced()
    {
        lock (gate) ackOwed = true;
        Wake();
    }

    public void SayGoodbye(string why)
    {
        lock (gate) control.Write(new Goodbye(GoodbyeCode.Refused, why));
        Wake();
    }

    /// <summary>Both threads of the connection have stopped.</summary>
    public void Ended(string why)
    {
        if (!isSaid && !isDialler && Peer is null) Say($"closed: {why}");
        lock (gate) stage = Stage.Ended;
        outbound?.End();
        parts.Awaiting.Remove(this);
        if (origin is not null) parts.Ledger.Disconnect(origin, this);
        parts.Table.Ended(this, why);
    }

    private void Say(string what)
    {
        isSaid = true;
        parts.Say($"link {Peer?.ToString() ?? Remote}: {what}");
    }
}

/// <summary>The peer closed the connection in words.</summary>
internal sealed class LinkEnded(string why) : Exception(why);
