using Ambrosia.Protocol.Hashing;
using Ambrosia.Protocol.Payloads;

namespace Ambrosia.Protocol.Frames;

/// <summary>
/// Takes whole frames off the front of what a connection has received (protocol P2). It keeps no state between calls. It checks a header as
/// soon as its 16 bytes are there, so that nobody waits for the payload of a malformed one.
/// </summary>
public static class FrameReader
{
    /// <summary>
    /// Reads the frame at the front. On Ok <paramref name="payload"/> is a view on <paramref name="bytes"/>, and
    /// <paramref name="consumed"/> is the size of the whole frame. On NeedMore nothing was consumed; <paramref name="header"/> is set once
    /// 16 bytes are there, so that the caller can make its buffer large enough.
    /// </summary>
    /// <param name="checkPayload">True on a link: payloadCrc must be right; false on an app channel: it must be 0 (P2.5).</param>
    /// <exception cref="ProtocolViolation">P1.6, P2.1, P2.3, P2.4 or P2.5.</exception>
    public static DecodeStatus TryRead(
        ReadOnlySpan<byte> bytes, uint seed, uint payloadBytesMax, bool checkPayload,
        out FrameHeader header, out ReadOnlySpan<byte> payload, out int consumed)
    {
        payload = default;
        consumed = 0;
        header = default;
        if (bytes.Length < FrameHeader.Bytes) return DecodeStatus.NeedMore;
        header = FrameHeader.Read(bytes, seed, payloadBytesMax);
        if (!checkPayload && header.PayloadCrc != 0) throw BadPayload(header);
        if (header.Length > (uint)(bytes.Length - FrameHeader.Bytes)) return DecodeStatus.NeedMore;

        ReadOnlySpan<byte> whole = bytes.Slice(FrameHeader.Bytes, (int)header.Length);
        if (checkPayload && header.PayloadCrc != Crc32C.Of(whole)) throw BadPayload(header);
        payload = whole;
        consumed = FrameHeader.Bytes + whole.Length;
        return DecodeStatus.Ok;
    }

    /// <summary>Refuses a payload of a frame whose type has no fields (P2.6).</summary>
    /// <exception cref="ProtocolViolation">P2.6: there is a payload.</exception>
    public static void ReadEmpty(FrameType type, ReadOnlySpan<byte> payload)
    {
        if (!payload.IsEmpty) throw new ProtocolViolation("P2.6", $"{payload.Length} bytes of payload in a {type} frame");
    }

    private static ProtocolViolation BadPayload(FrameHeader header) =>
        new("P2.5", $"{header.Type} frame of {header.Length} bytes with payload checksum 0x{header.PayloadCrc:X8}");
}
