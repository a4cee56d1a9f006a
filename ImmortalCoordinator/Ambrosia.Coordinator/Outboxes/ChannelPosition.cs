using Ambrosia.Protocol.Runs;

namespace Ambrosia.Coordinator.Outboxes;

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
