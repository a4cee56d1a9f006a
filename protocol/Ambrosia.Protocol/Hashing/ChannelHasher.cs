namespace Ambrosia.Protocol;

/// <summary>
/// The running hash of one channel (protocol P3.6): message bytes as they stand in runs, and the kind's byte wherever the kind changes.
/// Both fields together are the state: a checkpoint keeps both. One thread at a time.
/// </summary>
/// <param name="Hash">Hash of everything so far; 0 for an untouched channel.</param>
/// <param name="LastKind">Kind of the last message; 0 before the first.</param>
public record struct ChannelHasher(ulong Hash, MessageKind LastKind)
{
    /// <summary>Adds whole messages of one kind, one behind another as in a run. Cutting them into several calls changes nothing.</summary>
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
