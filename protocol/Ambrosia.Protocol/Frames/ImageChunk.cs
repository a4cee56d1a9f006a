namespace Ambrosia.Protocol.Frames;

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
