using Ambrosia.Log;
using Ambrosia.Protocol;

namespace Ambrosia.Coordinator;

/// <summary>
/// The way of one connection from its first frame until it is open: hello, turn, Peer record, answer, ready (protocol P6.1). Owns the stage
/// and the peer's hello. Invariant: nothing but hello and ready is written before the stage is Open. The connection's lock guards what
/// changes the stage; <see cref="Judge"/> is the in thread's and takes none.
/// </summary>
internal sealed class LinkOpening(LinkParts parts, PeerLink link, FrameQueue control)
{
    private volatile LinkStage stage = link.IsDialler ? LinkStage.SendHello : LinkStage.AwaitHello;
    private Hello? theirs;
    private Origin? origin;

    public LinkStage Stage => stage;

    public bool IsOpen => stage == LinkStage.Open;

    /// <summary>Once its hello was accepted.</summary>
    public Hello Theirs => theirs ?? throw new InvalidOperationException($"{link.Remote} has not said its hello");

    /// <summary>Once it had its turn; null: it had none.</summary>
    public Origin? Origin => origin;

    /// <exception cref="ProtocolViolation">P6.1: a hello was said before.</exception>
    public HelloVerdict Judge(Hello hello, out string why)
    {
        if (stage != LinkStage.AwaitHello) throw new ProtocolViolation("P6.1", "hello out of turn");
        Crash.Hit("handshake.gotHello");
        InstanceId peer = hello.Instance;
        return HelloCheck.Judge(hello, parts.FactsFor(peer, link.Expected, link.Begun) with
        {
            CertifiedNames = link.CertifiedNames, WasForgotten = parts.Ledger.WasForgotten(peer, hello.Uuid),
        }, out why);
    }

    /// <summary>The hello is right.</summary>
    public void Accept(Hello hello)
    {
        theirs = hello;
        stage = LinkStage.AwaitTurn;
    }

    /// <summary>
    /// No other connection to this peer is in use: its epoch goes to the log, if it is new there. False: it is refused,
    /// or broke while it waited.
    /// </summary>
    /// <param name="why">Why it is refused.</param>
    public bool TryTakeTurn(out string? why)
    {
        why = null;
        if (stage != LinkStage.AwaitTurn || !parts.Ledger.TryAdmit(link.Peer!.Value, Theirs.Uuid, Theirs.Epoch, out origin, out why))
            return false;
        stage = LinkStage.AwaitRecord;
        parts.Ledger.Connect(origin, link);
        parts.Awaiting.Add(link);
        return true;
    }

    /// <summary>Writes what is due; true: the conversation is complete, and <see cref="Opened"/> follows.</summary>
    public bool Advance()
    {
        switch (stage)
        {
            case LinkStage.SendHello:
                SendHello(link.Expected!.Value, LinkStage.AwaitHello);
                return false;
            case LinkStage.AwaitRecord when PeerIsDurable():
                parts.Awaiting.Remove(link);
                if (link.IsDialler) control.WriteEmpty(FrameType.Ready);
                else SendHello(link.Peer!.Value, LinkStage.AwaitReady);
                return link.IsDialler;
            default:
                return false;
        }
    }

    private void SendHello(InstanceId to, LinkStage next)
    {
        control.Write(parts.HelloTo(to, link.Nonce));
        stage = next;
        Crash.Hit("handshake.sentHello");
    }

    /// <summary>The peer's epoch is in the log for good (model rule M4).</summary>
    private bool PeerIsDurable() => parts.Ledger.TryLog(origin!, parts.TryAppendPeer, out Lsn end) && parts.Durable >= end;

    /// <exception cref="ProtocolViolation">P6.1: it is not its turn.</exception>
    public void CheckReady()
    {
        if (stage != LinkStage.AwaitReady) throw new ProtocolViolation("P6.1", "ready out of turn");
    }

    public void Opened() => stage = LinkStage.Open;

    public void Refuse(string why)
    {
        stage = LinkStage.Refused;
        control.Write(new Goodbye(GoodbyeCode.Refused, why));
    }

    public void End() => stage = LinkStage.Ended;
}
