using Ambrosia.Coordinator.Outboxes;
using Ambrosia.Coordinator.Replay;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;

namespace Ambrosia.Coordinator.Links;

/// <summary>It says what becomes of a peer's hello.</summary>
internal enum HelloVerdict
{
    Accept,

    /// <summary>Not for us, or not from whom we take it: this connection ends, others may come.</summary>
    Refuse,

    /// <summary>
    /// Like <see cref="Refuse"/>, of a peer whose epoch or claim is not the one that was seen: our hello, ahead of the Goodbye, lets it
    /// judge itself.
    /// </summary>
    RefuseOlder,

    /// <summary>One of the two logs has gone back in time: no connection to this peer until the operator acts.</summary>
    Stop,

    /// <summary>Like <see cref="Stop"/>, where the peer's log is the older one: our hello lets it judge itself.</summary>
    StopOlder,

    /// <summary>Our own log is older than the world, or not the one that the world has seen: the process ends (75).</summary>
    WeAreOld,

    /// <summary>Our app has made other calls than before: the process ends (70).</summary>
    WeDiffer,
}

/// <summary>It holds what we know when a hello arrives.</summary>
/// <param name="Expected">Whom we dialled; null for a connection that came in.</param>
/// <param name="BytesWanted">Length of the message that stopped the link before, because the peer does not take one
/// as long; 0: none.</param>
/// <param name="Begun">Timestamp no later than the hello's writing.</param>
/// <param name="CertifiedNames">Instances that the peer's certificate is for; null: there are no certificates.</param>
/// <param name="KnownUuid">UUID under which the peer's name is in our log; null when it is new.</param>
/// <param name="WasForgotten">An operator has given up the instance that says this hello.</param>
/// <param name="IsLeaving">The one that has this name in our log is being given up at the moment.</param>
/// <param name="KnownClaim">The number by which the claim of the known epoch was seen; 0: it said none.</param>
/// <param name="RefusedClaim">The last claim that was refused because another one of its epoch was seen before.</param>
/// <param name="OwnClaims">The numbers that our own claims have drawn; null: none.</param>
internal sealed record HelloFacts(
    InstanceId Self, Guid OwnUuid, Epoch OwnEpoch, InstanceId? Expected, Guid? KnownUuid, Epoch KnownEpoch, InputPosition Durable,
    Outbox Outbox, uint BytesWanted = 0, long Begun = 0, IReadOnlyList<string>? CertifiedNames = null, bool WasForgotten = false,
    bool IsLeaving = false, ulong KnownClaim = 0, (Epoch Epoch, ulong Number) RefusedClaim = default, ClaimHistory? OwnClaims = null);

/// <summary>Decides about a hello (protocol P6.3 to P6.5 and P6.12), from values alone.</summary>
internal static class HelloCheck
{
    /// <summary>
    /// An instance is its log: what one side owes the other ends with neither name nor directory, only by an operator's word.
    /// </summary>
    private const string WayOut =
        "Put the log back that was there before; or, if it is gone for good, say so to the side that remembers it";

    public static HelloVerdict Judge(Hello hello, HelloFacts facts, out string why)
    {
        var peer = hello.Instance;
        (HelloVerdict verdict, why) = Identity(hello, facts, peer) ?? Positions(hello, facts, peer) ?? (HelloVerdict.Accept, "");
        return verdict;
    }

    private static (HelloVerdict, string)? Identity(Hello hello, HelloFacts facts, InstanceId peer)
    {
        // First of all: nobody makes us stop or exit in the name of another.
        if (facts.CertifiedNames is { } names && !names.Contains(peer.Name, StringComparer.Ordinal))
            return (HelloVerdict.Refuse,
                $"{peer} says its hello, and the certificate of the connection is for {string.Join(", ", names.Where(static name => Names.IsValid(name)).Take(8))}: give it one with its own name (P7.5)");
        if (hello.VersionMin > 1 || hello.VersionMax < 1)
            return (HelloVerdict.Refuse,
                $"{peer} speaks protocol versions {hello.VersionMin} to {hello.VersionMax}, we speak 1: upgrade the coordinator of the older side (P6.3)");
        if (new InstanceId(hello.PeerName, facts.Self.Shard) != facts.Self)
            return (HelloVerdict.Refuse,
                $"{peer} wants to speak to {hello.PeerName}, we are {facts.Self}: its catalog says that {hello.PeerName} is here. Give both the same --catalog, and start {hello.PeerName} (P6.3)");
        if (facts.Expected is { } expected && expected != peer)
            return (HelloVerdict.Refuse,
                $"{peer} answers where {expected} should: the catalog's address of {expected} is another's now. Start {expected}, or give both the same --catalog (P6.3)");
        if (peer == facts.Self)
            return (HelloVerdict.Refuse,
                $"an instance does not connect to itself: two run with the name {peer}. Give one another name (P6.3)");
        if (hello.Epoch == default)
            return (HelloVerdict.Refuse,
                $"{peer} comes with epoch 0, which no primary has: it is no coordinator, or a damaged one. Replace it (P6.3)");
        if (facts.WasForgotten)
            return (HelloVerdict.Refuse,
                $"{peer} ({hello.Uuid}) was forgotten here by an operator: what it had is of no use any more; give it another name (P6.3)");
        if (facts.IsLeaving)
            return (HelloVerdict.Refuse, $"the {peer} that our log knows is being forgotten: its name is free in a moment (P6.3)");
        if (facts.KnownUuid is { } uuid && uuid != hello.Uuid)
            return (HelloVerdict.Stop,
                $"{peer} is {hello.Uuid}, our log knows it as {uuid}: it was deleted and made again, or two instances have one name. " +
                    $"{WayOut}, here: 'ambrosia forget-peer DIR {peer.Name}' (P6.3)");
        if (hello.PeerUuid != Guid.Empty && hello.PeerUuid != facts.OwnUuid)
            return (HelloVerdict.Stop,
                $"{peer} knows us as {hello.PeerUuid}, we are {facts.OwnUuid}: we were deleted and made again, or two instances have one name. " +
                    $"{WayOut}, there: 'ambrosia forget-peer DIR {facts.Self.Name}' (P6.3)");
        if (hello.Epoch < facts.KnownEpoch)
            return (HelloVerdict.RefuseOlder,
                $"{peer} comes with epoch {hello.Epoch}, {facts.KnownEpoch} was seen: a replaced primary ends by itself. If none was replaced, another process runs on a log of its own: stop the one that is a copy; or, if an older log was restored, put the newer log back (P6.3)");
        if (hello.Claims.Contradicts((facts.KnownEpoch, facts.KnownClaim)) || hello.Claims.Has(facts.RefusedClaim))
            return (HelloVerdict.RefuseOlder, Older(hello, facts) ??
                $"{peer} comes with another claim of epoch {facts.KnownEpoch} than was seen: two processes run on two logs of {peer}, one of which is a copy, and the first to come is taken. Stop the one that is the copy; if that is the first, start {facts.Self} again behind it (P6.12)");
        if (hello.MessageBytesMax < facts.BytesWanted)
            return (HelloVerdict.Refuse,
                $"{peer} takes messages of at most {hello.MessageBytesMax} bytes, one of {facts.BytesWanted} is next: give it a larger limit (P6.11)");
        if (hello.PeerEpoch > facts.OwnEpoch)
            return (HelloVerdict.WeAreOld,
                $"{peer} has seen our epoch {hello.PeerEpoch}, we are {facts.OwnEpoch}: our log is older, as a restored copy is, or another process runs on a copy of it. Put the newer log back; or, if the other one is the copy, stop it and start this one again (P6.5)");
        return null;
    }

    private static (HelloVerdict, string)? Positions(Hello hello, HelloFacts facts, InstanceId peer)
    {
        bool lacksInputs = hello.Trimmed > facts.Durable.Number;
        if (lacksInputs && hello.PeerUuid == facts.OwnUuid)
            return (HelloVerdict.WeAreOld,
                $"{peer} dropped its calls up to {hello.Trimmed}, which we had acknowledged, and we have {facts.Durable.Number}: our log is older, as a restored copy is. Put the newer log back; or, if it is gone for good, begin a new instance, and have this one forgotten there: 'ambrosia forget-peer DIR {facts.Self.Name}' (P6.4)");
        ChannelPosition known = facts.Outbox.Known;
        if (hello.Durable > known.Number) return FewerCalls(hello, facts, peer, known.Number);
        if (hello.ImpulseEpoch == facts.OwnEpoch && hello.Impulses > facts.Outbox.ImpulsesNumbered)
            return (HelloVerdict.WeAreOld,
                $"{peer} has {hello.Impulses} impulses of our epoch {facts.OwnEpoch}, we have made {facts.Outbox.ImpulsesNumbered}: our log is older, as a restored copy is, and has claimed that epoch again. Put the newer log back (P6.5)");
        bool isKept = facts.Outbox.TryPositionAt(hello.Durable, out ChannelPosition at);
        // Within a claim positions only grow: this hello may be late.
        if (!isKept && hello.Epoch == facts.KnownEpoch && facts.Outbox.AckedAt >= facts.Begun)
            return (HelloVerdict.Refuse,
                $"{peer} has {hello.Durable} of our calls, it has acknowledged {facts.Outbox.Trimmed.Number} in this epoch: another connection overtook this hello; the next is taken (P6.4)");
        if (!isKept) return (HelloVerdict.StopOlder, Older(hello, facts)!);
        if (lacksInputs)
            return (HelloVerdict.Stop,
                $"{peer} dropped its calls up to {hello.Trimmed}, we have {facts.Durable.Number} durable, and it does not know us: its log is damaged, or another. {WayOut}, there: 'ambrosia forget-peer DIR {facts.Self.Name}' (P6.4)");
        if (HasSeenAnotherClaim(hello, facts))
            return (HelloVerdict.WeAreOld,
                $"{peer} has seen another claim of our epoch {hello.PeerEpoch} than ours: two processes run on two logs of {facts.Self}, one of which is a copy, and {peer} has taken the other first. Stop the one that is the copy; if that is the other, start {peer} again behind it, and then this one (P6.12)");
        return at.Hash == hello.Hash ? null : OtherCalls(hello, facts, peer, at);
    }

    /// <summary>
    /// The peer has more of our calls than we made. Either records are missing at the end of our log, or the app makes fewer calls of the
    /// same records. Nothing else tells that the log was put back, so the second is likelier; an operator has to look in either case.
    /// </summary>
    private static (HelloVerdict, string) FewerCalls(Hello hello, HelloFacts facts, InstanceId peer, ulong made)
    {
        string what = $"{peer} has {hello.Durable} of our calls, we have made {made}";
        return KnowEachOther(hello, facts) && !HasSeenAnotherClaim(hello, facts)
            ? (HelloVerdict.WeDiffer,
                $"{DivergenceException.Cause}: {what}. Start the build that ran before, or find the statement that is not deterministic; or, if our log is older, as a restored copy is, put the newer log back (P6.5)")
            : (HelloVerdict.WeAreOld,
                $"{what}: our log is older, as a restored copy is. Put the newer log back (P6.5)");
    }

    /// <summary>Returns in words that the peer has fewer of our calls than it had, or null.</summary>
    private static string? Older(Hello hello, HelloFacts facts) => hello.Durable >= facts.Outbox.Trimmed.Number ? null
        : $"{hello.Instance} has {hello.Durable} of our calls, it had {facts.Outbox.Trimmed.Number} before: its log is older, a restored copy or another. " +
            "Start it on the log that it had; the calls in between are kept nowhere else (P6.4)";

    /// <summary>The peer has taken another process with our UUID in our place.</summary>
    private static bool HasSeenAnotherClaim(Hello hello, HelloFacts facts) =>
        facts.OwnClaims?.Contradicts((hello.PeerEpoch, hello.PeerClaim)) == true;

    private static bool KnowEachOther(Hello hello, HelloFacts facts) =>
        facts.KnownUuid == hello.Uuid && hello.PeerUuid == facts.OwnUuid;

    /// <summary>
    /// The peer has other calls of ours than we made. A log of its own that was put back holds fewer of them and no others, so where each
    /// knows the other as the instance that it is, it is our execution that is another one.
    /// </summary>
    private static (HelloVerdict, string) OtherCalls(Hello hello, HelloFacts facts, InstanceId peer, ChannelPosition at)
    {
        string what = $"hash {hello.Hash:x16} after {hello.Durable} there, {at.Hash:x16} here";
        return KnowEachOther(hello, facts)
            ? (HelloVerdict.WeDiffer,
                $"{DivergenceException.Cause}: {peer} has other calls of {facts.Self} than were made again: {what}. The app must emit the same calls for the same inputs: find the statement that is not deterministic, or start the build that ran before. " +
                    $"Its log and that of {peer} show both with 'ambrosia log DIR --records'. If this log is an older copy that went on by itself, put the newer log back instead (P6.4)")
            : (HelloVerdict.Stop,
                $"{peer} has other calls of ours than we made: {what}, and one of the two does not know the other: one of the two logs is not what it was. Put the log back that was there before (P6.4)");
    }
}
