using Ambrosia.Protocol;

namespace CRA;

/// <summary>
/// What goes over one connection, as its pumps see it. <see cref="Feed"/>, <see cref="WaitForRoom"/> and <see cref="FrameBytesWanted"/>
/// are called by the in thread only. <see cref="TryTake"/>, <see cref="Taken"/> and <see cref="HeartbeatFrame"/> are called by one thread
/// at a time: the out thread, or whoever is inside <see cref="LinkConnection.Nudge"/>. An exception other than the named ones is
/// a bug and ends the process.
/// </summary>
public interface ILinkTraffic
{
    /// <summary>
    /// Whole size in bytes, header included, of the frame that the unconsumed bytes begin; 0 when that is not known yet. The traffic
    /// has checked it against the limit in force (P2.3). The receive buffer grows towards it as the bytes come in.
    /// </summary>
    int FrameBytesWanted { get; }

    /// <summary>
    /// Takes received bytes. Only whole frames are consumed; the rest stands at the beginning of the next feed.
    /// </summary>
    /// <param name="drained">The socket had no more bytes: the moment to commit inline and to acknowledge.</param>
    /// <exception cref="ProtocolViolation">The bytes are malformed; what is queued is sent, then the connection closes.</exception>
    FeedAnswer Feed(ReadOnlySpan<byte> bytes, bool drained, out int consumed);

    /// <summary>Blocks after <see cref="FeedAnswer.NoRoom"/> until there may be room.</summary>
    /// <exception cref="OperationCanceledException">The connection closed meanwhile.</exception>
    void WaitForRoom(CancellationToken stop);

    /// <summary>
    /// The next bytes to send, at least one: whole frames, control before data. They stay valid and unchanged, and no others are
    /// asked for, until <see cref="Taken"/> has named all of them or the connection has ended.
    /// </summary>
    bool TryTake(out ReadOnlyMemory<byte> bytes);

    /// <summary>So many further bytes of what was last given have been handed to the socket; several calls add up to all of them.</summary>
    void Taken(int bytes);

    /// <summary>A whole frame that is sent after 1 s of silence; empty while none may be sent.</summary>
    ReadOnlyMemory<byte> HeartbeatFrame { get; }

    /// <summary>
    /// The connection is over and its socket closed; no other member is called any more. Called once, by the pump that stops last.
    /// </summary>
    void Ended(string why);
}
