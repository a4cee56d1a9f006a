using Ambrosia.Log;
using Ambrosia.Protocol;
using CRA;

namespace Ambrosia.Coordinator;

/// <summary>What every connection to a peer works with; the same for all of them.</summary>
internal sealed class LinkParts
{
    /// <summary>Payload of a frame before the hello is accepted (P2.3).</summary>
    public const uint HelloBytesMax = 4096;

    public required InstanceId Self { get; init; }

    public required InstanceIdentity Identity { get; init; }

    public required string Replica { get; init; }

    /// <summary>Set when this replica becomes primary, before the first connection.</summary>
    public Epoch OwnEpoch { get; set; }

    /// <summary>
    /// Whether anything may be sent now. It throws on a secondary (I10), and says no while it is not sure that we are primary still.
    /// </summary>
    public Func<bool> MayEmit { get; init; } = static () => true;

    public required uint MessageBytesMax { get; init; }

    public required LogAppender Log { get; init; }

    public required InputLedger Ledger { get; init; }

    public required OutboxSet Outboxes { get; init; }

    public required LinkTable Table { get; init; }

    public required TrimBook Trims { get; init; }

    public required TimeProvider Time { get; init; }

    public required PeerLines Lines { get; init; }

    /// <summary>Impulses of the running app session to this outbox are logged up to this ticket.</summary>
    public required Action<Outbox, ulong> ImpulsesLogged { get; init; }

    /// <summary>Appended records wait for a commit; true: nothing more is coming at the moment.</summary>
    public required Action<bool> Committer { get; init; }

    public required Action<CancellationToken> Room { get; init; }

    /// <summary>A connection is over: there may be somebody to call.</summary>
    public Action Dial { get; init; } = static () => { };

    /// <summary>Ends the process with an exit code and a reason.</summary>
    public required Action<int, string> Fail { get; init; }

    /// <summary>Their hello waits for a record to become durable: few, and seldom.</summary>
    public WaitingLinks Awaiting { get; } = new();

    /// <summary>
    /// They owe an acknowledgement of few calls that nobody waits for: it goes with whatever is said next, or a moment later. With many
    /// peers in a page that is one message to each now and then instead of one to each a page.
    /// </summary>
    public WaitingLinks LateAcks { get; } = new();

    /// <summary>The outputs to one to whom there are none.</summary>
    private readonly Outbox noOutputs = OutboxSet.Empty();

    public Lsn Durable => Log.Durable;

    public uint PayloadBytesMax => Frames.PayloadBytesMax(MessageBytesMax);

    public Outbox OutboxOf(InstanceId peer) => Outboxes.GetOrAdd(peer);

    public void WakeCommitter(bool drained)
    {
        if (Log.TakeWake() || drained) Committer(drained);
    }

    public void WaitForRoom(CancellationToken stop) => Room(stop);

    public HelloFacts FactsFor(InstanceId peer, InstanceId? expected, long begun)
    {
        Origin? known = Ledger.Find(peer);
        Outbox outputs = Outboxes.TryGet(peer, out Outbox? outbox) ? outbox : noOutputs; // a name that is refused leaves nothing behind
        return new HelloFacts(Self, Identity.Uuid, OwnEpoch, expected, known?.Uuid, known?.Epoch ?? default,
            known is null ? default : Ledger.DurableOf(known), outputs, Table.BytesWanted(peer), begun,
            IsLeaving: known is { IsLeaving: true });
    }

    public LinkRank RankOf(InstanceId peer, Epoch peerEpoch, ulong nonce, bool weDialled)
    {
        bool weAreSmaller = Self.CompareTo(peer) < 0;
        return new LinkRank(weAreSmaller ? OwnEpoch : peerEpoch, weAreSmaller ? peerEpoch : OwnEpoch, nonce, weDialled == weAreSmaller);
    }

    public Hello HelloTo(InstanceId peer, ulong nonce)
    {
        Origin? known = Ledger.Find(peer);
        InputPosition durable = known is null ? default : Ledger.DurableOf(known);
        return new Hello(1, 1, Identity.Uuid, Self, Replica, OwnEpoch, nonce, peer.Name, known?.Uuid ?? Guid.Empty,
            known?.Epoch ?? default, durable.Number, durable.Hash, OutboxOf(peer).Trimmed.Number, durable.ImpulseEpoch, durable.Impulses,
            MessageBytesMax);
    }

    public bool TryAppendPeer(PeerRecord record, out Lsn end)
    {
        bool appended = Log.TryAppend(RecordKind.Peer, RecordKinds.Encode(record), out end);
        Committer(false);
        return appended;
    }

    public void Acknowledged(Origin origin, Outbox outbox, ulong number, long bytes)
    {
        outbox.AckedAt = Time.GetTimestamp(); // before the Trim that follows can be applied
        outbox.Acknowledge(number);
        Trims.Acknowledged(origin.Id, number, bytes, Time.GetUtcNow());
    }

    /// <summary>
    /// What follows from a hello that is not accepted; returns as what the operator hears of it: a stop is not one more of many refusals.
    /// </summary>
    public PeerEvent Refused(InstanceId peer, HelloVerdict verdict, string why)
    {
        if (verdict == HelloVerdict.WeAreOld) Fail(ExitCodes.NotPrimary, why);
        if (verdict == HelloVerdict.Stop) Table.Stop(peer);
        return verdict == HelloVerdict.Refuse ? PeerEvent.Refused : PeerEvent.Stopped;
    }

    /// <summary>One that we know, or have called: not just anybody's name.</summary>
    public bool IsKnown(InstanceId peer, InstanceId? expected) => peer == expected || Ledger.Find(peer) is not null;
}
