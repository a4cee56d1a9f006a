using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using CRA.Links;

namespace Ambrosia.Coordinator.Framing;

/// <summary>It takes what comes over a link, frame by frame, on the connection's in thread.</summary>
internal interface ILinkFrames
{
    /// <summary>The connection was refused or has ended: nothing more is taken.</summary>
    bool IsOver { get; }

    /// <summary>The limit of a frame's payload at the present stage (P2.3).</summary>
    uint PayloadBytesMax { get; }

    /// <summary>Takes a whole frame. <see cref="FeedResult.NoRoom"/>: not yet, it comes again.</summary>
    /// <exception cref="ProtocolViolation">It is malformed, or not its turn.</exception>
    FeedResult Take(FrameType type, ReadOnlySpan<byte> payload);

    /// <summary>The other side broke the protocol; the connection closes.</summary>
    void Broken(ProtocolViolation violation);
}
