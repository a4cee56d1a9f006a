using Ambrosia.Protocol.Runs;

namespace Ambrosia.Coordinator.Outboxes;

/// <summary>
/// One run that waits to be trimmed. It stands as a whole frame (16 bytes header, run) in a block or in the scratch file.
/// </summary>
/// <param name="Block">Null: the frame is in the scratch file at the address <paramref name="At"/>.</param>
/// <param name="At">Where the frame begins.</param>
/// <param name="FrameBytes">Its length, header included.</param>
/// <param name="End">The channel after this run; for impulses the number counts impulses and there is no hash.</param>
/// <param name="Crc">The CRC-32C of a frame in the scratch file: a disk may give back other bytes than it was given.</param>
internal readonly record struct OutboxEntry(
    BlockPool.Block? Block, long At, int FrameBytes, MessageKind Kind, uint Count, ChannelPosition End, uint Crc = 0)
{
    public bool IsImpulse => Kind == MessageKind.Impulse;

    public ulong First => End.Number - Count + 1;

    /// <summary>True when it ends no later than so many calls or, an entry of impulses, so many of these.</summary>
    public bool IsWithin(ulong calls, ulong impulses) => End.Number <= (IsImpulse ? impulses : calls);
}

/// <summary>A place in the stream of one channel; it says how many messages came before it, and their hash (protocol P3.6).</summary>
internal readonly record struct ChannelPosition(ulong Number, ulong Hash, MessageKind LastKind)
{
    /// <summary>The place after <paramref name="count"/> more messages of one kind.</summary>
    public ChannelPosition After(MessageKind kind, ReadOnlySpan<byte> messages, uint count)
    {
        var hasher = new ChannelHasher { Hash = Hash, LastKind = LastKind };
        hasher.Append(kind, messages);
        return new ChannelPosition(Number + count, hasher.Hash, kind);
    }
}
