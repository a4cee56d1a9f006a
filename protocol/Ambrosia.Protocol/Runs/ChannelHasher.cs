using Ambrosia.Protocol.Hashing;

namespace Ambrosia.Protocol.Runs;

/// <summary>
/// Computes the running hash of one channel (protocol P3.6). It covers the message bytes as they stand in runs, and the kind's byte
/// wherever the kind changes. Both fields together are the state, so a checkpoint keeps both. One thread at a time may use it.
/// </summary>
/// <param name="Hash">Hash of everything so far; 0 for a channel without messages.</param>
/// <param name="LastKind">Kind of the last message; 0 before the first.</param>
public record struct ChannelHasher(ulong Hash, MessageKind LastKind)
{
    /// <summary>
    /// Appends whole messages of one kind, one behind another as in a run. It makes no difference into how many calls they are cut.
    /// </summary>
    public void Append(MessageKind kind, ReadOnlySpan<byte> messages)
    {
        if (messages.IsEmpty) return;
        if (kind != LastKind)
        {
            Hash = ChannelHash.Append(Hash, [(byte)kind]);
            LastKind = kind;
        }
        Hash = ChannelHash.Append(Hash, messages);
    }
}
