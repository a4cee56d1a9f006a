using Ambrosia.Protocol.Payloads;

namespace Ambrosia.Protocol.Frames;

/// <summary>
/// The coordinator tells the app to become primary as soon as it has executed every record below this position (protocol P5.10).
/// </summary>
public readonly record struct BecomePrimary(Lsn Position) : IFramePayload<BecomePrimary>
{
    public static FrameType Type => FrameType.BecomePrimary;

    public int BytesMax => 8;

    public void Write(ref PayloadWriter to) => to.U64(Position.Value);

    public static BecomePrimary Read(ReadOnlySpan<byte> payload)
    {
        var from = PayloadReader.OfFrame(payload, "P5.10");
        var frame = new BecomePrimary(from.Lsn());
        from.End();
        return frame;
    }
}
