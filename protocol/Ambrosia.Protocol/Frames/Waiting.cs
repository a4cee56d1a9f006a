using Ambrosia.Protocol.Payloads;

namespace Ambrosia.Protocol.Frames;

/// <summary>
/// States that a checkpoint that was asked for is late or impossible, and why (protocol P5.8). A reason longer than 1,024 bytes is cut when
/// it is written.
/// </summary>
/// <param name="Mark">Position of the CheckpointMark record.</param>
public sealed record Waiting(Lsn Mark, string Why) : IFramePayload<Waiting>
{
    private const int WhyBytesMax = 1024;

    public static FrameType Type => FrameType.Waiting;

    public int BytesMax => 8 + 2 + WhyBytesMax;

    public void Write(ref PayloadWriter to)
    {
        to.U64(Mark.Value);
        to.CutString(Why, WhyBytesMax);
    }

    public static Waiting Read(ReadOnlySpan<byte> payload)
    {
        var from = PayloadReader.OfFrame(payload, "P5.8");
        var waiting = new Waiting(from.Lsn(), from.String(WhyBytesMax));
        from.End();
        return waiting;
    }
}
