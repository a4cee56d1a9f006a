using Ambrosia.Protocol;
using CRA;

namespace Ambrosia.Coordinator;

/// <summary>Who takes what comes over a link, frame by frame. The connection's in thread.</summary>
internal interface ILinkFrames
{
    /// <summary>The connection was refused or has ended: nothing more is taken.</summary>
    bool IsOver { get; }

    /// <summary>Limit of a frame's payload at the present stage (P2.3).</summary>
    uint PayloadBytesMax { get; }

    /// <summary>Takes a whole frame. <see cref="FeedAnswer.NoRoom"/>: not yet, it comes again.</summary>
    /// <exception cref="ProtocolViolation">It is malformed, or not its turn.</exception>
    FeedAnswer Take(FrameType type, ReadOnlySpan<byte> payload);

    /// <summary>The other side broke the protocol; the connection closes.</summary>
    void Broken(ProtocolViolation violation);
}
