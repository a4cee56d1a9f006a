using Ambrosia.Protocol.Payloads;

namespace Ambrosia.Protocol.Frames;

/// <summary>States that a message has left the app's quarantine, because it was tried again or dropped (protocol P5.16).</summary>
public readonly record struct ReleasedFrame(MessagePlace Message) : IFramePayload<ReleasedFrame>
{
    public static FrameType Type => FrameType.Released;

    public int BytesMax => 12;

    public void Write(ref PayloadWriter to) => to.Place(Message);

    public static ReleasedFrame Read(ReadOnlySpan<byte> payload)
    {
        var from = PayloadReader.OfFrame(payload, "P5.16");
        var frame = new ReleasedFrame(from.Place());
        from.End();
        return frame;
    }
}
