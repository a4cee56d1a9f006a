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
