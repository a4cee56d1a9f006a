using System.Buffers;

namespace Ambrosia.Protocol;

/// <summary>Builds whole frames, header and payload, in one stretch of a growable buffer (protocol P2).</summary>
public static class Frames
{
    /// <summary>No control payload is longer; it is also the limit before the hello (P2.3).</summary>
    public const int ControlBytesMax = 4096;

    /// <summary>What a frame may carry beyond the connection's message limit (P2.3): headers, extension blocks.</summary>
    public const int PayloadBytesBeyondMessage = 65536;

    /// <summary>Message limit where nothing is configured, and its upper bound (P2.3), in bytes.</summary>
    public const uint MessageBytesMaxDefault = 64 * 1024 * 1024, MessageBytesMaxLimit = 1024 * 1024 * 1024;

    /// <summary>
    /// Most bytes of payload of a frame once the hello is accepted (P2.3): a run of small messages may be longer than the message limit.
    /// </summary>
    public static uint PayloadBytesMax(uint messageBytesMax) =>
        Math.Max(messageBytesMax, RunHeader.RunBytesMax) + PayloadBytesBeyondMessage;

    /// <summary>Most bytes of a run (P3.5), so that a Deliver frame can hold the record that it becomes.</summary>
    public static uint RunBytesMax(uint messageBytesMax) => PayloadBytesMax(messageBytesMax) - DeliverHeader.Bytes - RecordHeader.Bytes;

    /// <param name="seed">0 on an app channel, the connection's seed on a link (P2.2).</param>
    /// <param name="checkPayload">True on a link, where the payload has a checksum; false on an app channel.</param>
    public static void Write(IBufferWriter<byte> to, FrameType type, ReadOnlySpan<byte> payload, uint seed, bool checkPayload)
    {
        Span<byte> frame = to.GetSpan(FrameHeader.Bytes + payload.Length);
        payload.CopyTo(frame[FrameHeader.Bytes..]);
        Finish(to, frame, type, payload.Length, seed, checkPayload);
    }

    /// <summary>A control frame.</summary>
    public static void Write<T>(IBufferWriter<byte> to, T payload, uint seed, bool checkPayload) where T : IFramePayload<T>
    {
        Span<byte> frame = to.GetSpan(FrameHeader.Bytes + payload.BytesMax);
        var writer = new PayloadWriter(frame[FrameHeader.Bytes..]);
        payload.Write(ref writer);
        Finish(to, frame, T.Type, writer.Written, seed, checkPayload);
    }

    /// <summary>A frame without payload: Heartbeat, Ready, CheckpointWanted.</summary>
    public static void WriteEmpty(IBufferWriter<byte> to, FrameType type, uint seed) => Write(to, type, [], seed, checkPayload: false);

    /// <summary>Refuses a payload where there must be none.</summary>
    public static void ReadEmpty(FrameType type, ReadOnlySpan<byte> payload)
    {
        if (!payload.IsEmpty) throw new ProtocolViolation("P2.6", $"{payload.Length} bytes of payload in a {type} frame");
    }

    private static void Finish(IBufferWriter<byte> to, Span<byte> frame, FrameType type, int length, uint seed, bool checkPayload)
    {
        uint payloadCrc = checkPayload ? Crc32C.Of(frame.Slice(FrameHeader.Bytes, length)) : 0;
        new FrameHeader((uint)length, type, payloadCrc).Write(frame, seed);
        to.Advance(FrameHeader.Bytes + length);
    }
}
