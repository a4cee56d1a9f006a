using Ambrosia.Coordinator.Inbox;
using Ambrosia.Coordinator.LogFeed;
using Ambrosia.Coordinator.Outboxes;
using Ambrosia.Coordinator.Replay;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Records;
using CRA.Links;

namespace Ambrosia.Coordinator.Links;

/// <summary>
/// What a primary says of itself when a link opens, and how it takes what a peer says (protocol P6.1 to P6.5); the same for all links. It
/// owns the links whose hello waits until the peer's record is durable. Any thread.
/// </summary>
/// <param name="claim">The epoch that this primary holds.</param>
internal sealed class PeerHandshake(
    CoordinatorInputs inputs, OwnClaim claim, LogAppender log, DedupTable dedup, OutboxSet outboxes, LinkTable table)
{
    /// <summary>Stands for the outputs to a peer that has none: a name that is refused leaves nothing behind.</summary>
    private readonly Outbox _noOutputs = OutboxSet.Empty();

    /// <summary>The links whose hello waits for the log; they are few, and seldom.</summary>
    public WaitingLinks Awaiting { get; } = new();

    private InstanceId Self { get; } = new(inputs.Identity.Name, inputs.Identity.Shard);

    /// <summary>The longest payload of a frame once a peer's hello is accepted (P2.3).</summary>
    public uint PayloadBytesMax => SizeLimits.PayloadBytesMax(inputs.Options.MessageBytesMax);

    public long Now => inputs.Time.GetTimestamp();

    /// <summary>Makes the hello to a peer.</summary>
    public Hello HelloTo(InstanceId peer, ulong nonce)
    {
        InboundChannel? known = dedup.Find(peer);
        InputPosition durable = known is null ? default : dedup.DurableOf(known);
        SeenClaim seen = dedup.SeenOf(known);
        return new Hello(1, 1, inputs.Identity.Uuid, Self, inputs.Options.Replica, claim.Epoch, nonce, peer.Name, known?.Uuid ?? Guid.Empty,
            seen.Epoch, durable.Number, durable.Hash, outboxes.GetOrAdd(peer).Trimmed.Number, durable.ImpulseEpoch,
            durable.Impulses, inputs.Options.MessageBytesMax)
        {
            Claims = claim.Numbers.Last.Epoch == claim.Epoch ? claim.Numbers : ClaimHistory.None, PeerClaim = seen.Number,
        };
    }

    /// <summary>Judges a peer's hello by what the log and the outboxes hold of that peer.</summary>
    /// <param name="expected">The peer that was dialled; null for a connection that came in.</param>
    /// <param name="begun">A timestamp no later than the hello's writing.</param>
    public HelloVerdict Judge(
        Hello hello, InstanceId? expected, long begun, IReadOnlyList<string>? certifiedNames, out string why)
    {
        InstanceId peer = hello.Instance;
        InboundChannel? known = dedup.Find(peer);
        SeenClaim seen = dedup.SeenOf(known);
        Outbox outputs = outboxes.TryGet(peer, out Outbox? outbox) ? outbox : _noOutputs;
        HelloVerdict verdict = HelloCheck.Judge(hello, new HelloFacts(
            Self, inputs.Identity.Uuid, claim.Epoch, expected, known?.Uuid, seen.Epoch,
            known is null ? default : dedup.DurableOf(known), outputs, table.BytesWanted(peer), begun, certifiedNames,
            dedup.WasForgotten(peer, hello.Uuid), known is { IsLeaving: true }, seen.Number, seen.Refused, claim.Numbers), out why);
        if (verdict == HelloVerdict.Accept) outboxes.Unheard.Heard(peer);
        if (verdict == HelloVerdict.RefuseOlder && hello.Epoch >= seen.Epoch) dedup.RefuseClaim(known!, hello.Claims.Last);
        return verdict;
    }

    /// <summary>
    /// Draws the consequence of a hello that is not accepted, and returns what the operator hears of it: a stop is not one more of many
    /// refusals.
    /// </summary>
    public PeerEvent Refused(InstanceId peer, HelloVerdict verdict, string why)
    {
        if (verdict == HelloVerdict.WeAreOld) inputs.Pumps.Fail(ExitCodes.NotPrimary, why);
        if (verdict == HelloVerdict.WeDiffer) inputs.Pumps.Fail(ExitCodes.Divergence, why);
        if (verdict is HelloVerdict.Stop or HelloVerdict.StopOlder) table.Stop(peer, why);
        return verdict is HelloVerdict.Refuse or HelloVerdict.RefuseOlder ? PeerEvent.Refused : PeerEvent.Stopped;
    }

    /// <summary>True when the peer is one that we know or have dialled, and not just anybody's name.</summary>
    public bool IsKnown(InstanceId peer, InstanceId? expected) => peer == expected || dedup.Find(peer) is not null;

    /// <summary>Ranks a connection to a peer among others to the same peer; both sides come to the same order.</summary>
    public LinkRank RankOf(InstanceId peer, Epoch peerEpoch, ulong nonce, bool weDialled)
    {
        bool weAreSmaller = Self.CompareTo(peer) < 0;
        return new LinkRank(weAreSmaller ? claim.Epoch : peerEpoch, weAreSmaller ? peerEpoch : claim.Epoch, nonce, weDialled == weAreSmaller);
    }

    /// <summary>Takes the peer of an accepted hello; false: what is right has changed since it was judged.</summary>
    public bool TryAdmit(Hello hello, out InboundChannel? origin, out string? why) =>
        dedup.TryAdmit(hello.Instance, hello.Uuid, hello.Epoch, out origin, out why, hello.Claims.Last.Number);

    /// <summary>From now on the link hears when its peer's inputs, or the log, become durable.</summary>
    public void Connect(InboundChannel origin, PeerLink link)
    {
        dedup.Connect(origin, link);
        Awaiting.Add(link);
    }

    /// <summary>The link has ended, and hears of nothing any more.</summary>
    public void Disconnect(InboundChannel? origin, PeerLink link)
    {
        Awaiting.Remove(link);
        if (origin is not null) dedup.Disconnect(origin, link);
    }

    /// <summary>True once the peer's epoch is in the log for good (model rule M4); appends its record where there is none.</summary>
    public bool IsDurable(InboundChannel origin)
    {
        bool isLogged = dedup.TryLog(origin, log.TryAppend<PeerRecord>, out Lsn end);
        if (isLogged && log.Durable >= end) return true;
        inputs.Pumps.Commit(false); // behind the table's lock, which writers want for whom a commit waits
        return false;
    }
}

/// <summary>Holds the epoch that a primary has claimed, and the numbers that this claim and those before it have drawn.</summary>
internal readonly record struct OwnClaim(Epoch Epoch, ClaimHistory Numbers);
