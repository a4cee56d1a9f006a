namespace Ambrosia.Protocol;

/// <summary>What the app emitted before this frame rests on records below this position, all of them executed (protocol P5.6).</summary>
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
