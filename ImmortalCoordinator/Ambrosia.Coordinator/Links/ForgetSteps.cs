using System.Buffers.Binary;
using Ambrosia.Coordinator.Inbox;
using Ambrosia.Coordinator.Outboxes;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Records;

namespace Ambrosia.Coordinator.Links;

/// <summary>What a primary does to give a peer up. Any thread.</summary>
/// <param name="Uuid">Of the primary's own instance.</param>
/// <param name="TryAppend">Appends the record; false: no room now.</param>
/// <param name="TryAppendPeer">Appends the record of a peer that was never met; false: no room now.</param>
/// <param name="Dropped">How many calls to a peer that was forgotten are gone.</param>
/// <param name="Commit">Commits what was appended. It waits for writers, so it is called under no lock.</param>
internal sealed record ForgetSteps(
    Guid Uuid, DedupTable Dedup, OutboxSet Outboxes, Func<ForgetRecord, bool> TryAppend, TryAppendPeer TryAppendPeer,
    Func<InstanceId, ulong> Dropped, Action Commit)
{
    /// <summary>Begins to give a peer up; null: <paramref name="why"/> says why not, or the log has no room now.</summary>
    public InboundChannel? Begin(InstanceId peer, out string? why) =>
        Dedup.BeginForget(peer, TryAppend, IsCalled(peer) ? (UuidOfUnmet, TryAppendPeer) : null, out why);

    /// <summary>True for an instance that was called and never met.</summary>
    public bool IsUnmet(InstanceId peer) => peer != Dedup.Self.Instance && Dedup.Find(peer) is null;

    private bool IsCalled(InstanceId peer) => Outboxes.TryGet(peer, out Outbox? outbox) && outbox.KeptCalls > 0;

    /// <summary>An instance that is not there gets a UUID that no other has: our own one, with the origin's id in it.</summary>
    private Guid UuidOfUnmet(uint origin)
    {
        Span<byte> bytes = stackalloc byte[16];
        Uuid.TryWriteBytes(bytes);
        BinaryPrimitives.WriteUInt32LittleEndian(bytes, BinaryPrimitives.ReadUInt32LittleEndian(bytes) ^ origin);
        return new Guid(bytes);
    }
}
