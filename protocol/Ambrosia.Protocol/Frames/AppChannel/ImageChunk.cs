namespace Ambrosia.Protocol;

/// <summary>A piece of an image (protocol P5.7): the payload is the bytes themselves.</summary>
public static class ImageChunk
{
    public const int BytesMax = 1024 * 1024;

    /// <exception cref="ProtocolViolation">P5.7: an empty or too large chunk.</exception>
    public static ReadOnlySpan<byte> Read(ReadOnlySpan<byte> payload) =>
        payload.Length is > 0 and <= BytesMax ? payload : throw new ProtocolViolation("P5.7", $"image chunk of {payload.Length} bytes");
}
