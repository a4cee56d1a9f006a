using Ambrosia.Protocol;

namespace CRA.Links;

/// <summary>
/// The contract between a connection's pumps and whoever uses the connection: it takes received bytes and gives bytes to send.
/// <see cref="Feed"/>, <see cref="WaitForRoom"/> and <see cref="FrameBytesWanted"/>
/// are called by the in thread only. <see cref="TryTake"/>, <see cref="Taken"/> and <see cref="HeartbeatFrame"/> are called by one thread
/// at a time: the out thread, or whoever is inside <see cref="LinkConnection.Nudge"/>. An exception other than the named ones is
/// a bug and ends the process.
/// </summary>
public interface ILinkTraffic
{
    /// <summary>
    /// The whole size in bytes, header included, of the frame that the unconsumed bytes begin; 0 while it is not known. The traffic has
    /// checked it against the limit in force (P2.3). The receive buffer grows towards it as the bytes come in.
    /// </summary>
    int FrameBytesWanted { get; }

    /// <summary>
    /// Takes received bytes. Only whole frames are consumed; the rest stands at the beginning of the next feed.
    /// </summary>
    /// <param name="drained">Whether the socket had no more bytes, which is the moment to commit inline and to acknowledge.</param>
    /// <exception cref="ProtocolViolation">The bytes are malformed; what is queued is sent, then the connection closes.</exception>
    FeedResult Feed(ReadOnlySpan<byte> bytes, bool drained, out int consumed);

    /// <summary>Blocks after <see cref="FeedResult.NoRoom"/> until there may be room.</summary>
    /// <exception cref="OperationCanceledException">The connection closed meanwhile.</exception>
    void WaitForRoom(CancellationToken stop);

    /// <summary>
    /// Gives the next bytes to send, at least one: whole frames, control before data. They stay valid and unchanged, and no others are
    /// asked for, until <see cref="Taken"/> has named all of them or the connection has ended. Returns false when there are none.
    /// </summary>
    bool TryTake(out ReadOnlyMemory<byte> bytes);

    /// <summary>
    /// Notes that so many further bytes of what was last given were handed to the socket; several calls add up to all of them.
    /// </summary>
    void Taken(int bytes);

    /// <summary>The frame that is sent after 1 s of silence; empty while none may be sent.</summary>
    ReadOnlyMemory<byte> HeartbeatFrame { get; }

    /// <summary>
    /// Tells the traffic that the connection is over and its socket closed. It is called once, by the pump that stops last; no other
    /// member is called afterwards.
    /// </summary>
    void Ended(string why);
}

/// <summary>The answer to a feed tells the receiving pump what to do next.</summary>
public enum FeedResult
{
    /// <summary>Go on and receive more.</summary>
    Continue,

    /// <summary>The log is full: wait for room, then feed the rest again before anything is received.</summary>
    NoRoom,

    /// <summary>Close the connection after what is queued for it (a Goodbye) has been sent. Nothing more is fed.</summary>
    Close,
}
