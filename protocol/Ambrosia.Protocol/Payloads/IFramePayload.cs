namespace Ambrosia.Protocol;

/// <summary>
/// The fields of one type of control frame. <c>Read(Write(x)) = x</c>, and <c>Read</c> refuses everything that
/// <c>Write</c> cannot have written.
/// </summary>
public interface IFramePayload<TSelf> where TSelf : IFramePayload<TSelf>
{
    static abstract FrameType Type { get; }

    /// <summary>No less than the bytes that <see cref="Write"/> writes; at most <see cref="Frames.ControlBytesMax"/>.</summary>
    int BytesMax { get; }

    void Write(ref PayloadWriter to);

    /// <exception cref="ProtocolViolation">Malformed; cites the sentence.</exception>
    static abstract TSelf Read(ReadOnlySpan<byte> payload);
}
