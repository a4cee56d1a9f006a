using Ambrosia.Protocol.Payloads;

namespace Ambrosia.Protocol.Frames;

/// <summary>States that the app has executed every record below this position and is primary now (protocol P5.10).</summary>
public readonly record struct PrimaryReady(Lsn Position) : IFramePayload<PrimaryReady>
{
    public static FrameType Type => FrameType.PrimaryReady;

    public int BytesMax => 8;

    public void Write(ref PayloadWriter to) => to.U64(Position.Value);

    public static PrimaryReady Read(ReadOnlySpan<byte> payload)
    {
        var from = PayloadReader.OfFrame(payload, "P5.10");
        var frame = new PrimaryReady(from.Lsn());
        from.End();
        return frame;
    }
}
