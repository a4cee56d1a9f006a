using Ambrosia.Protocol.Payloads;

namespace Ambrosia.Protocol.Frames;

/// <summary>Opens an image of the app's state at a position (protocol P5.7); chunks and an <see cref="ImageEnd"/> follow.</summary>
/// <param name="ImageVersion">Version of the binding's image format.</param>
public readonly record struct ImageBegin(Lsn Position, uint ImageVersion) : IFramePayload<ImageBegin>
{
    public static FrameType Type => FrameType.ImageBegin;

    public int BytesMax => 12;

    public void Write(ref PayloadWriter to)
    {
        to.U64(Position.Value);
        to.U32(ImageVersion);
    }

    public static ImageBegin Read(ReadOnlySpan<byte> payload)
    {
        var from = PayloadReader.OfFrame(payload, "P5.7");
        var begin = new ImageBegin(from.Lsn(), from.U32());
        from.End();
        return begin;
    }
}

/// <summary>A chunk is a piece of an image (protocol P5.7); the payload is the bytes themselves.</summary>
public static class ImageChunk
{
    /// <summary>A chunk has at most this many bytes.</summary>
    public const int BytesMax = 1024 * 1024;

    /// <summary>Checks the size of a chunk.</summary>
    /// <exception cref="ProtocolViolation">P5.7: the chunk is empty or too large.</exception>
    public static ReadOnlySpan<byte> Read(ReadOnlySpan<byte> payload) =>
        payload.Length is > 0 and <= BytesMax ? payload : throw new ProtocolViolation("P5.7", $"image chunk of {payload.Length} bytes");
}

/// <summary>Closes an image, which is complete now (protocol P5.7).</summary>
/// <param name="Length">Bytes of the whole image.</param>
/// <param name="Hash">CRC-64/NVME of the whole image.</param>
public readonly record struct ImageEnd(ulong Length, ulong Hash) : IFramePayload<ImageEnd>
{
    public static FrameType Type => FrameType.ImageEnd;

    public int BytesMax => 16;

    public void Write(ref PayloadWriter to)
    {
        to.U64(Length);
        to.U64(Hash);
    }

    public static ImageEnd Read(ReadOnlySpan<byte> payload)
    {
        var from = PayloadReader.OfFrame(payload, "P5.7");
        var end = new ImageEnd(from.U64(), from.U64());
        from.End();
        return end;
    }
}
