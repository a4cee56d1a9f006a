using Ambrosia.Protocol.Payloads;

namespace Ambrosia.Protocol.Frames;

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
