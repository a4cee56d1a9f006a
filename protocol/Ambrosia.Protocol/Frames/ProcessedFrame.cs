using Ambrosia.Protocol.Payloads;

namespace Ambrosia.Protocol.Frames;

/// <summary>
/// States that the app has executed all records below this position, and that everything it emitted before this frame rests on them
/// (protocol P5.6).
/// </summary>
public readonly record struct ProcessedFrame(Lsn Position) : IFramePayload<ProcessedFrame>
{
    public static FrameType Type => FrameType.Processed;

    public int BytesMax => 8;

    public void Write(ref PayloadWriter to) => to.U64(Position.Value);

    public static ProcessedFrame Read(ReadOnlySpan<byte> payload)
    {
        var from = PayloadReader.OfFrame(payload, "P5.6");
        var frame = new ProcessedFrame(from.Lsn());
        from.End();
        return frame;
    }
}
