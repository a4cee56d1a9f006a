namespace Ambrosia.Protocol;

/// <summary>
/// Takes whole frames off the front of what a connection has received (protocol P2). Pure: it keeps nothing between calls, and a header is
/// judged as soon as its 16 bytes are there, so nobody waits for the payload of a malformed one.
/// </summary>
public static class FrameReader
{
    /// <summary>
    /// Ok: <paramref name="payload"/> is a view on <paramref name="bytes"/> and <paramref name="consumed"/> the size of the whole frame.
    /// NeedMore: nothing was consumed; <paramref name="header"/> is set once 16 bytes are there, so that a buffer can be made ready.
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

    private static ProtocolViolation BadPayload(FrameHeader header) =>
        new("P2.5", $"{header.Type} frame of {header.Length} bytes with payload checksum 0x{header.PayloadCrc:X8}");
}
