using System.Buffers;
using Ambrosia.Protocol.Hashing;
using Ambrosia.Protocol.Payloads;

namespace Ambrosia.Protocol.Frames;

/// <summary>Builds whole frames, header and payload, in one piece of a growable buffer (protocol P2).</summary>
public static class FrameWriter
{
    /// <summary>Writes a frame whose payload is encoded already.</summary>
    /// <param name="seed">0 on an app channel, the connection's seed on a link (P2.2).</param>
    /// <param name="checkPayload">True on a link, where the payload has a checksum; false on an app channel.</param>
    public static void Write(IBufferWriter<byte> to, FrameType type, ReadOnlySpan<byte> payload, uint seed, bool checkPayload)
    {
        Span<byte> frame = to.GetSpan(FrameHeader.Bytes + payload.Length);
        payload.CopyTo(frame[FrameHeader.Bytes..]);
        Finish(to, frame, type, payload.Length, seed, checkPayload);
    }

    /// <summary>Writes a control frame.</summary>
    public static void Write<T>(IBufferWriter<byte> to, T payload, uint seed, bool checkPayload) where T : IFramePayload<T>
    {
        Span<byte> frame = to.GetSpan(FrameHeader.Bytes + payload.BytesMax);
        var writer = new PayloadWriter(frame[FrameHeader.Bytes..]);
        payload.Write(ref writer);
        Finish(to, frame, T.Type, writer.Written, seed, checkPayload);
    }

    /// <summary>Writes a frame without payload: Heartbeat, Ready or CheckpointWanted.</summary>
    public static void WriteEmpty(IBufferWriter<byte> to, FrameType type, uint seed) => Write(to, type, [], seed, checkPayload: false);

    private static void Finish(IBufferWriter<byte> to, Span<byte> frame, FrameType type, int length, uint seed, bool checkPayload)
    {
        uint payloadCrc = checkPayload ? Crc32C.Of(frame.Slice(FrameHeader.Bytes, length)) : 0;
        new FrameHeader((uint)length, type, payloadCrc).Write(frame, seed);
        to.Advance(FrameHeader.Bytes + length);
    }
}

/// <summary>
/// Encodes and decodes the fields of one type of control frame. The contract is <c>Read(Write(x)) = x</c>, and that <c>Read</c> refuses
/// everything that <c>Write</c> cannot have written.
/// </summary>
public interface IFramePayload<TSelf> where TSelf : IFramePayload<TSelf>
{
    static abstract FrameType Type { get; }

    /// <summary>No less than the bytes that <see cref="Write"/> writes; at most <see cref="SizeLimits.ControlBytesMax"/>.</summary>
    int BytesMax { get; }

    void Write(ref PayloadWriter to);

    /// <exception cref="ProtocolViolation">Malformed; cites the sentence.</exception>
    static abstract TSelf Read(ReadOnlySpan<byte> payload);
}
