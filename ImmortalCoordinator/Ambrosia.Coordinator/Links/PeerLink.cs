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
    /// <summary>Bytes of durable runs that are acknowledged at once; fewer wait for company.</summary>
    private const int AckBytes = 256 * 1024;

    private enum Stage { SendHello, AwaitHello, AwaitTurn, AwaitRecord, AwaitReady, Open, Refused, Ended }

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
    private bool controlTaken, dataTaken, ackOwed, isSaid, wasOpen;
    private int bytesWanted, bytesLeft;

    /// <summary>Why this connection, or its hello, was refused on either side; null: it was not.</summary>
    private string? refusal;

    /// <summary>Bytes of runs taken; and how many those were when an acknowledgement was last written.</summary>
    private long takenBytes, ackedBytes;

    public PeerLink(LinkParts parts, InstanceId? expected, uint seed, ulong nonce, string remote)
    {
        this.parts = parts;
        this.seed = seed;
        isDialler = expected is not null;
        Expected = expected;
        Nonce = nonce;
        Remote = remote;
        Begun = parts.Time.GetTimestamp();
        control = new ControlFrames(seed, checkPayload: true);
        stage = isDialler ? Stage.SendHello : Stage.AwaitHello;
        var frame = new ArrayBufferWriter<byte>();
        Frames.Write(frame, FrameType.Heartbeat, [], seed, checkPayload: true);
        heartbeat = frame.WrittenSpan.ToArray();
    }

    public InstanceId? Expected { get; }

    public ulong Nonce { get; private set; }

    public string Remote { get; }

    /// <summary>The instances that the other side's certificate is for; null: there are no certificates. Set by who runs the connection.</summary>
    public IReadOnlyList<string>? CertifiedNames { get; set; }

    /// <summary>Timestamp no later than the other side's hello: it wrote that on this connection. Set by who runs the connection.</summary>
    public long Begun { get; set; }

    /// <summary>Known after the hello.</summary>
    public InstanceId? Peer { get; private set; }

    /// <summary>Whom the connection is about, as far as we know such a one.</summary>
    private InstanceId? Known => Peer ?? Expected ?? claimed;

    private InstanceId? claimed;

    public LinkRank Rank { get; private set; }

    public bool IsOpen { get { lock (gate) return stage == Stage.Open; } }

    /// <summary>Wakes the connection's sender; set by who runs the connection.</summary>
    public Action Wake { get; set; } = static () => { };

    /// <summary>Ends the connection from outside.</summary>
    public Action<string> Close { get; set; } = static _ => { };

    /// <summary>Ends it from outside after what is queued (a Goodbye) has been sent.</summary>
    public Action<string> CloseAfterSending { get; set; } = static _ => { };

    /// <summary>Nothing may go out in front of the hello, nor from one who is not sure that he is primary still: he is not to pass for alive.</summary>
    public ReadOnlyMemory<byte> HeartbeatFrame => IsOpen && parts.MayEmit() ? heartbeat : default;

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
            Refuse(refused.Message, refused.Said);
            return FeedAnswer.Close;
        }
        catch (ProtocolViolation violation)
        {
            Say(PeerEvent.Violation, $"closed: {violation.Message}");
            throw;
        }
        catch (LinkEnded ended)
        {
            HearGoodbye(ended.Goodbye);
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
            if (stage == Stage.Refused) return FeedAnswer.Close;
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
                if (!inbound!.TryTake(payload)) return false;
                Volatile.Write(ref takenBytes, takenBytes + payload.Length);
                return true;
            case FrameType.Ack: TakeAck(Ack.Read(payload)); return true;
            case FrameType.Heartbeat: Frames.ReadEmpty(type, payload); return true;
            case FrameType.Hello: return TakeHello(Hello.Read(payload));
            case FrameType.Ready: Frames.ReadEmpty(type, payload); TakeReady(); return true;
            case FrameType.Goodbye: throw new LinkEnded(Goodbye.Read(payload));
            default: throw new ProtocolViolation("P2.4", $"{type} on a link");
        }
    }

    private bool TakeHello(Hello hello)
    {
        if (stage != Stage.AwaitHello) throw new ProtocolViolation("P6.1", "hello out of turn");
        Crash.Hit("handshake.gotHello");
        InstanceId peer = hello.Instance;
        HelloVerdict verdict = HelloCheck.Judge(hello, parts.FactsFor(peer, Expected, Begun) with
        {
            CertifiedNames = CertifiedNames, WasForgotten = parts.Ledger.WasForgotten(peer, hello.Uuid),
        }, out string why);
        if (verdict != HelloVerdict.Accept)
        {
            if (parts.IsKnown(peer, Expected)) claimed = peer;
            throw parts.Refused(peer, verdict, why);
        }
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
        string? why;
        lock (gate)
        {
            if (stage != Stage.AwaitTurn) return; // it broke while it waited, and has said so to the table
            if (parts.Ledger.TryAdmit(Peer!.Value, theirs!.Uuid, theirs.Epoch, out origin, out why))
            {
                stage = Stage.AwaitRecord;
                parts.Ledger.Connect(origin, this);
                parts.Awaiting.Add(this);
            }
        }
        if (why is null)
        {
            Wake();
            return;
        }
        Refuse(why);
        CloseAfterSending($"refused: {why}");
    }

    /// <summary>The connection ends with a Goodbye; whoever calls it closes.</summary>
    private void Refuse(string why, PeerEvent said = PeerEvent.Refused)
    {
        lock (gate)
        {
            stage = Stage.Refused;
            control.Write(new Goodbye(GoodbyeCode.Refused, why));
        }
        Say(said, $"{(said == PeerEvent.Stopped ? "stopped" : "refused")}: {why}");
        if (Known is { } peer) parts.Table.Refused(peer, parts.Time.GetUtcNow(), refusal = why);
        Wake();
    }

    private void HearGoodbye(Goodbye goodbye)
    {
        Say(PeerEvent.ToldGoodbye, $"closed by the other side: {goodbye.Why}");
        if (goodbye.Code == GoodbyeCode.Refused && Known is { } peer) parts.Table.Refused(peer, parts.Time.GetUtcNow(), refusal = goodbye.Why);
    }

    private void TakeReady()
    {
        if (stage != Stage.AwaitReady) throw new ProtocolViolation("P6.1", "ready out of turn");
        Open();
        CountHello();
    }

    private void Open()
    {
        inbound = new InboundRuns(parts.Log, parts.Ledger, origin!, parts.MessageBytesMax);
        outbound = new OutboundLink(parts.OutboxOf(Peer!.Value), seed, theirs!.MessageBytesMax);
        outbound.Resume(theirs.Durable, theirs.ImpulseEpoch == parts.OwnEpoch ? theirs.Impulses : 0);
        lock (gate)
        {
            stage = Stage.Open;
            wasOpen = true;
            ackOwed = true; // what became durable since our hello was written was said to nobody, and comes again only to be dropped
        }
        parts.Table.Opened(this);
        Wake();
    }

    /// <summary>What the peer's hello says that it has is acknowledged: an Ack may have been lost with the connection before. Outside the lock.</summary>
    private void CountHello() => Count(new Ack(theirs!.Durable, theirs.ImpulseEpoch, theirs.Impulses));

    private void TakeAck(Ack ack)
    {
        if (stage != Stage.Open) throw new ProtocolViolation("P6.1", "ack before the hellos are exchanged");
        Count(ack);
    }

    private void Count(Ack ack)
    {
        Outbox outbox = parts.OutboxOf(Peer!.Value);
        if (ack.Durable > outbox.Known.Number) throw new ProtocolViolation("P6.8", $"{ack.Durable} calls acknowledged of {outbox.Known.Number}");
        long bytes = outbound!.Acknowledged(ack.Durable);
        if (ack.Durable > outbox.Trimmed.Number) parts.Acknowledged(origin!, outbox, ack.Durable, bytes);
        if (ack.ImpulseEpoch == parts.OwnEpoch) parts.ImpulsesLogged(outbox, outbox.ImpulsesDurable(ack.Impulses));
    }

    public void WaitForRoom(CancellationToken stop) => parts.WaitForRoom(stop);

    // ---- out ----

    public bool TryTake(out ReadOnlyMemory<byte> bytes)
    {
        bytes = default;
        if (!parts.MayEmit()) return false;
        bool isOpen, hasOpened;
        lock (gate)
        {
            bool wasOpen = stage == Stage.Open;
            Advance();
            isOpen = stage == Stage.Open;
            hasOpened = isOpen && !wasOpen;
            controlTaken = control.TryTake(out bytes);
        }
        if (hasOpened) CountHello();
        bytesLeft = bytes.Length;
        if (controlTaken || !isOpen) return controlTaken;
        dataTaken = outbound!.TryTake(out bytes);
        bytesLeft = bytes.Length;
        return dataTaken || (outbound.TooLong > 0 && TakeStop(out bytes));
    }

    /// <summary>The next message is longer than the peer takes (P6.11): the link stops, with the reason to both operators.</summary>
    private bool TakeStop(out ReadOnlyMemory<byte> bytes)
    {
        string why = $"{Peer} takes messages of at most {theirs!.MessageBytesMax} bytes, one of {outbound!.TooLong} is next: give it a larger limit (P6.11)";
        parts.Table.Stop(Peer!.Value, outbound.TooLong);
        Refuse(why, PeerEvent.Stopped);
        CloseAfterSending(why);
        lock (gate) controlTaken = control.TryTake(out bytes);
        bytesLeft = bytes.Length;
        return controlTaken;
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
                ackedBytes = Volatile.Read(ref takenBytes);
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
        lock (gate)
        {
            ackOwed = true;
            if (MayAckLate())
            {
                parts.LateAcks.Add(this);
                return;
            }
        }
        Wake();
    }

    /// <summary>Somebody may wait for an impulse; for calls only memory does. Under the lock.</summary>
    private bool MayAckLate()
    {
        if (stage != Stage.Open || Volatile.Read(ref takenBytes) - ackedBytes >= AckBytes) return false;
        InputPosition durable = parts.Ledger.DurableOf(origin!);
        return durable.Impulses == acked.Impulses && durable.ImpulseEpoch == acked.ImpulseEpoch;
    }

    /// <summary>Both threads of the connection have stopped.</summary>
    public void Ended(string why)
    {
        if (wasOpen && why != LinkTable.Superseded) Say(PeerEvent.Lost, $"lost: {why}");
        else if (!isDialler && Peer is null) Say(PeerEvent.Closed, $"closed: {why}");
        lock (gate) stage = Stage.Ended;
        outbound?.End();
        parts.Awaiting.Remove(this);
        parts.LateAcks.Remove(this);
        if (origin is not null) parts.Ledger.Disconnect(origin, this);
        parts.Table.Ended(this, refusal ?? why);
        parts.Dial();
    }

    /// <summary>One line at the most about one connection.</summary>
    private void Say(PeerEvent happened, string what)
    {
        if (isSaid) return;
        isSaid = true;
        parts.Lines.Say(Known, Known?.ToString() ?? Remote, happened, what);
    }
}

/// <summary>The peer closed the connection in words.</summary>
internal sealed class LinkEnded(Goodbye goodbye) : Exception(goodbye.Why)
{
    public Goodbye Goodbye { get; } = goodbye;
}

