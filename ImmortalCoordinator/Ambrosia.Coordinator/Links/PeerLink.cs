using Ambrosia.Protocol;
using CRA;

namespace Ambrosia.Coordinator;

/// <summary>
/// One connection to one peer: once it is open (<see cref="LinkOpening"/>), runs in and out and acknowledgements. Control goes before data.
/// Owns the bytes under way. Two threads of the connection, and those that report durable inputs; what they share is under one lock.
/// </summary>
internal sealed class PeerLink : ILinkTraffic, ILinkFrames
{
    private readonly Lock gate = new();
    private readonly LinkParts parts;
    private readonly uint seed;
    private readonly FrameQueue control;
    private readonly LinkFrames frames;
    private readonly LinkOpening opening;
    private readonly LinkReport report;
    private readonly OwedAck owed = new();
    private readonly ReadOnlyMemory<byte> heartbeat;
    private OutboundLink? outbound;
    private InboundRuns? inbound;
    private bool controlTaken, dataTaken, wasOpen;
    private int bytesLeft;

    public PeerLink(LinkParts parts, InstanceId? expected, uint seed, ulong nonce, string remote)
    {
        this.parts = parts;
        this.seed = seed;
        Expected = expected;
        Nonce = nonce;
        Remote = remote;
        Begun = parts.Time.GetTimestamp();
        control = new FrameQueue(seed, checkPayload: true);
        frames = new LinkFrames(seed, IsDialler ? FrameSender.Acceptor : FrameSender.Dialler, this, parts.WakeCommitter);
        opening = new LinkOpening(parts, this, control);
        report = new LinkReport(parts, this);
        heartbeat = LinkFrames.Heartbeat(seed);
    }

    /// <summary>Whom we dialled; null: it came in.</summary>
    public InstanceId? Expected { get; }

    public bool IsDialler => Expected is not null;

    public ulong Nonce { get; private set; }

    public string Remote { get; }

    /// <summary>
    /// The instances that the other side's certificate is for; null: there are no certificates. Set by who runs the connection.
    /// </summary>
    public IReadOnlyList<string>? CertifiedNames { get; set; }

    /// <summary>Timestamp no later than the other side's hello: it wrote that on this connection. Set by who runs the connection.</summary>
    public long Begun { get; set; }

    /// <summary>Known after the hello.</summary>
    public InstanceId? Peer { get; private set; }

    public LinkRank Rank { get; private set; }

    public bool IsOpen { get { lock (gate) return opening.IsOpen; } }

    /// <summary>Wakes the connection's sender; set by who runs the connection.</summary>
    public Action Wake { get; set; } = static () => { };

    /// <summary>Ends the connection from outside.</summary>
    public Action<string> Close { get; set; } = static _ => { };

    /// <summary>Ends it from outside after what is queued (a Goodbye) has been sent.</summary>
    public Action<string> CloseAfterSending { get; set; } = static _ => { };

    /// <summary>
    /// Nothing may go out in front of the hello, nor from one who is not sure that he is primary still: he is not to pass for alive.
    /// </summary>
    public ReadOnlyMemory<byte> HeartbeatFrame => IsOpen && parts.MayEmit() ? heartbeat : default;

    public int FrameBytesWanted => frames.BytesWanted;

    // ---- in ----

    public FeedAnswer Feed(ReadOnlySpan<byte> bytes, bool drained, out int consumed) => frames.Feed(bytes, drained, out consumed);

    bool ILinkFrames.IsOver => opening.Stage == LinkStage.Refused;

    uint ILinkFrames.PayloadBytesMax =>
        opening.Stage is LinkStage.AwaitTurn or LinkStage.AwaitRecord or LinkStage.AwaitReady or LinkStage.Open
            ? parts.PayloadBytesMax : LinkParts.HelloBytesMax;

    void ILinkFrames.Broken(ProtocolViolation violation) => report.Broken(violation);

    FeedAnswer ILinkFrames.Take(FrameType type, ReadOnlySpan<byte> payload)
    {
        switch (type)
        {
            case FrameType.Run: return TakeRun(payload);
            case FrameType.Ack: TakeAck(Ack.Read(payload)); return FeedAnswer.Continue;
            case FrameType.Heartbeat: Frames.ReadEmpty(type, payload); return FeedAnswer.Continue;
            case FrameType.Hello: return TakeHello(Hello.Read(payload));
            case FrameType.Ready: Frames.ReadEmpty(type, payload); TakeReady(); return FeedAnswer.Continue;
            case FrameType.Goodbye: report.ToldGoodbye(Goodbye.Read(payload)); return FeedAnswer.Close;
            default: throw new ProtocolViolation("P2.4", $"{type} on a link");
        }
    }

    private FeedAnswer TakeRun(ReadOnlySpan<byte> payload)
    {
        if (!opening.IsOpen) throw new ProtocolViolation("P6.1", "run before the hellos are exchanged");
        if (!inbound!.TryTake(payload)) return FeedAnswer.NoRoom;
        owed.Took(payload.Length);
        return FeedAnswer.Continue;
    }

    private FeedAnswer TakeHello(Hello hello)
    {
        InstanceId peer = hello.Instance;
        HelloVerdict verdict = opening.Judge(hello, out string why);
        if (verdict != HelloVerdict.Accept)
        {
            if (parts.IsKnown(peer, Expected)) report.Claims(peer);
            Refuse(why, parts.Refused(peer, verdict, why));
            return FeedAnswer.Close;
        }
        Peer = peer;
        if (!IsDialler) Nonce = hello.Nonce;
        Rank = parts.RankOf(peer, hello.Epoch, Nonce, IsDialler);
        lock (gate) opening.Accept(hello);
        parts.Table.Offer(this);
        return FeedAnswer.Continue;
    }

    /// <summary>No other connection to this peer is in use.</summary>
    public void TakeTurn()
    {
        bool isOurs;
        string? why;
        lock (gate) isOurs = opening.TryTakeTurn(out why);
        if (isOurs) Wake();
        if (why is null) return;
        Refuse(why);
        CloseAfterSending($"refused: {why}");
    }

    /// <summary>The connection ends with a Goodbye; whoever calls it closes.</summary>
    private void Refuse(string why, PeerEvent said = PeerEvent.Refused)
    {
        lock (gate) opening.Refuse(why);
        report.Refused(why, said);
        Wake();
    }

    private void TakeReady()
    {
        opening.CheckReady();
        Open();
        CountHello();
    }

    private void Open()
    {
        Hello theirs = opening.Theirs;
        inbound = new InboundRuns(parts.Log, parts.Ledger, opening.Origin!, parts.MessageBytesMax);
        outbound = new OutboundLink(parts.OutboxOf(Peer!.Value), seed, theirs.MessageBytesMax);
        outbound.Resume(theirs.Durable, theirs.ImpulseEpoch == parts.OwnEpoch ? theirs.Impulses : 0);
        lock (gate)
        {
            opening.Opened();
            wasOpen = true;
            owed.IsOwed = true; // what became durable since our hello was written was said to nobody, and comes again only to be dropped
        }
        parts.Table.Opened(this);
        Wake();
    }

    /// <summary>
    /// What the peer's hello says that it has is acknowledged: an Ack may have been lost with the connection before. Outside the lock.
    /// </summary>
    private void CountHello() => Count(new Ack(opening.Theirs.Durable, opening.Theirs.ImpulseEpoch, opening.Theirs.Impulses));

    private void TakeAck(Ack ack)
    {
        if (!opening.IsOpen) throw new ProtocolViolation("P6.1", "ack before the hellos are exchanged");
        Count(ack);
    }

    private void Count(Ack ack)
    {
        Outbox outbox = parts.OutboxOf(Peer!.Value);
        if (ack.Durable > outbox.Known.Number)
            throw new ProtocolViolation("P6.8", $"{ack.Durable} calls acknowledged of {outbox.Known.Number}");
        long bytes = outbound!.Acknowledged(ack.Durable);
        if (ack.Durable > outbox.Trimmed.Number) parts.Acknowledged(opening.Origin!, outbox, ack.Durable, bytes);
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
            hasOpened = opening.Advance();
            if (hasOpened) Open();
            isOpen = opening.IsOpen;
            if (isOpen && owed.IsOwed) PayAck();
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
        string why =
            $"{Peer} takes messages of at most {opening.Theirs.MessageBytesMax} bytes, one of {outbound!.TooLong} is next: give it a larger limit (P6.11)";
        parts.Table.Stop(Peer!.Value, outbound.TooLong);
        Refuse(why, PeerEvent.Stopped);
        CloseAfterSending(why);
        lock (gate) controlTaken = control.TryTake(out bytes);
        bytesLeft = bytes.Length;
        return controlTaken;
    }

    private void PayAck()
    {
        if (!owed.TryPay(parts.Ledger.DurableOf(opening.Origin!), out Ack ack)) return;
        Crash.Hit("ack.beforeSend");
        control.Write(ack);
    }

    public void Taken(int bytes)
    {
        bytesLeft -= bytes;
        if (bytesLeft > 0) { if (dataTaken) Crash.Hit("out.partialSend"); return; }
        if (dataTaken) outbound!.Taken();
        else if (controlTaken && owed.HasSpoken) Crash.Hit("ack.afterSend");
        controlTaken = dataTaken = false;
    }

    /// <summary>Inputs of this peer have become durable, or the log has: there may be something to say.</summary>
    public void DurableAdvanced()
    {
        lock (gate)
        {
            owed.IsOwed = true;
            if (opening.IsOpen && owed.IsSmall && !owed.TellsOfImpulses(parts.Ledger.DurableOf(opening.Origin!)))
            {
                parts.LateAcks.Add(this);
                return;
            }
        }
        Wake();
    }

    /// <summary>Both threads of the connection have stopped.</summary>
    public void Ended(string why)
    {
        report.Ended(why, wasOpen);
        lock (gate) opening.End();
        outbound?.End();
        parts.Awaiting.Remove(this);
        parts.LateAcks.Remove(this);
        if (opening.Origin is { } origin) parts.Ledger.Disconnect(origin, this);
        parts.Table.Ended(this, report.Refusal ?? why);
        parts.Dial();
    }
}
