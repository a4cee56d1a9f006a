using Ambrosia.Coordinator.Framing;
using Ambrosia.Coordinator.Inbox;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using CRA.Links;

namespace Ambrosia.Coordinator.Links;

/// <summary>It says how far a connection to a peer has come (protocol P6.1), from above to below.</summary>
internal enum LinkStage
{
    /// <summary>We dialled, so our hello is the first word.</summary>
    SendHello,
    AwaitHello,

    /// <summary>The peer's hello is right, and another connection to it is still in use.</summary>
    AwaitTurn,

    /// <summary>The peer's epoch is not durable in our log yet.</summary>
    AwaitRecord,
    AwaitReady,
    Open,
    Refused,
    Ended,
}

/// <summary>
/// The way of one connection from its first frame until it is open: hello, turn, Peer record, answer, ready (protocol P6.1). It owns the
/// stage, who is at the other end, and that one's hello. Invariant: nothing but hello and ready is written before the stage is Open. The
/// link's lock guards what changes the stage; <see cref="Judge"/> is the in thread's and takes none.
/// </summary>
/// <param name="expected">The peer that was dialled; null for a connection that came in.</param>
/// <param name="nonce">The number of our call to it; 0 for a connection that came in.</param>
internal sealed class LinkOpening(PeerHandshake handshake, LinkTransport transport, InstanceId? expected, ulong nonce)
{
    private readonly long _begun = transport.Begun ?? handshake.Now;
    private volatile LinkStage _stage = expected is not null ? LinkStage.SendHello : LinkStage.AwaitHello;
    private Hello? _theirs;

    /// <summary>The peer that was dialled. It is null for a connection that came in.</summary>
    public InstanceId? Expected { get; } = expected;

    public bool IsDialler => Expected is not null;

    /// <summary>The number of the dialler's call; for a connection that came in it is known once the hello was accepted.</summary>
    public ulong Nonce { get; private set; } = nonce;

    /// <summary>The peer at the other end. It is null until its hello was accepted.</summary>
    public InstanceId? Peer { get; private set; }

    /// <summary>The rank of this connection among others to the same peer; it is known once the hello was accepted.</summary>
    public LinkRank Rank { get; private set; }

    public LinkStage Stage => _stage;

    public bool IsOpen => _stage == LinkStage.Open;

    /// <summary>The longest payload of a frame that is taken at this stage (P2.3).</summary>
    public uint PayloadBytesMax => _stage is LinkStage.AwaitTurn or LinkStage.AwaitRecord or LinkStage.AwaitReady or LinkStage.Open
        ? handshake.PayloadBytesMax : LinkFrames.HelloBytesMax;

    /// <summary>The other side's hello, which is known once it was accepted.</summary>
    public Hello Theirs => _theirs ?? throw new InvalidOperationException($"{transport.Remote} has not said its hello");

    /// <summary>The channel of the peer's inputs, which is known once the connection had its turn. It is null before that.</summary>
    public InboundChannel? Origin { get; private set; }

    /// <exception cref="ProtocolViolation">P6.1: a hello was said before.</exception>
    public HelloVerdict Judge(Hello hello, out string why)
    {
        if (_stage != LinkStage.AwaitHello) throw new ProtocolViolation("P6.1", "hello out of turn");
        Crash.Hit("handshake.gotHello");
        return handshake.Judge(hello, Expected, _begun, transport.CertifiedNames, out why);
    }

    /// <summary>True when the peer is one that we know or have dialled, and not just anybody's name.</summary>
    public bool IsKnown(InstanceId peer) => handshake.IsKnown(peer, Expected);

    /// <summary>Draws the consequence of a hello that is not accepted, and returns what the operator hears of it.</summary>
    public PeerEvent Refused(InstanceId peer, HelloVerdict verdict, string why) => handshake.Refused(peer, verdict, why);

    /// <summary>The hello is right: from here on it is known who is at the other end.</summary>
    public void Accept(Hello hello)
    {
        Peer = hello.Instance;
        if (!IsDialler) Nonce = hello.Nonce;
        Rank = handshake.RankOf(hello.Instance, hello.Epoch, Nonce, IsDialler);
        _theirs = hello;
        _stage = LinkStage.AwaitTurn;
    }

    /// <summary>
    /// Goes on when no other connection to this peer is in use: the peer's epoch is to be logged, if it is new there. False: the connection
    /// is refused, or broke while it waited.
    /// </summary>
    /// <param name="why">Why it is refused; null: it is not.</param>
    public bool TryTakeTurn(PeerLink link, out string? why)
    {
        why = null;
        if (_stage != LinkStage.AwaitTurn || !handshake.TryAdmit(Theirs, out InboundChannel? origin, out why)) return false;
        Origin = origin;
        _stage = LinkStage.AwaitRecord;
        handshake.Connect(origin!, link);
        return true;
    }

    /// <summary>Writes what is due; true: the handshake is complete, and <see cref="Opened"/> follows.</summary>
    public bool Advance(PeerLink link, FrameQueue to)
    {
        switch (_stage)
        {
            case LinkStage.SendHello:
                SendHello(Expected!.Value, LinkStage.AwaitHello, to);
                return false;
            case LinkStage.AwaitRecord when handshake.IsDurable(Origin!):
                handshake.Awaiting.Remove(link);
                if (IsDialler) to.WriteEmpty(FrameType.Ready);
                else SendHello(Peer!.Value, LinkStage.AwaitReady, to);
                return IsDialler;
            default:
                return false;
        }
    }

    private void SendHello(InstanceId peer, LinkStage next, FrameQueue to)
    {
        to.Write(handshake.HelloTo(peer, Nonce));
        _stage = next;
        Crash.Hit("handshake.sentHello");
    }

    /// <exception cref="ProtocolViolation">P6.1: it is not its turn.</exception>
    public void CheckReady()
    {
        if (_stage != LinkStage.AwaitReady) throw new ProtocolViolation("P6.1", "ready out of turn");
    }

    public void Opened() => _stage = LinkStage.Open;

    /// <summary>
    /// A peer that dialled comes with an epoch, a claim or a log that is behind what was seen of it: our hello says what that is, so that
    /// the peer can judge itself. The Goodbye follows.
    /// </summary>
    public void SayWhatWasSeen(Hello hello, FrameQueue to)
    {
        if (!IsDialler) to.Write(handshake.HelloTo(hello.Instance, hello.Nonce));
    }

    /// <summary>The connection ends with a Goodbye that says why.</summary>
    public void Refuse(string why, FrameQueue to)
    {
        _stage = LinkStage.Refused;
        to.Write(new Goodbye(GoodbyeCode.Refused, why));
    }

    public void End() => _stage = LinkStage.Ended;

    /// <summary>Both threads of the connection have stopped: the link hears of nothing any more. Outside the lock.</summary>
    public void Disconnect(PeerLink link) => handshake.Disconnect(Origin, link);
}
