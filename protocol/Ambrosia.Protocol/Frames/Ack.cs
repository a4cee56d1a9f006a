using Ambrosia.Protocol.Payloads;

namespace Ambrosia.Protocol.Frames;

/// <summary>States which of the other side's calls and impulses are durable here (protocol P6.8). The statement is cumulative.</summary>
/// <param name="Durable">Number of the last durable call.</param>
/// <param name="Impulses">Number of the last durable impulse of <paramref name="ImpulseEpoch"/>.</param>
public readonly record struct Ack(ulong Durable, Epoch ImpulseEpoch, ulong Impulses) : IFramePayload<Ack>
{
    public static FrameType Type => FrameType.Ack;

    public int BytesMax => 24;

    public void Write(ref PayloadWriter to)
    {
        to.U64(Durable);
        to.U64(ImpulseEpoch.Value);
        to.U64(Impulses);
    }

    public static Ack Read(ReadOnlySpan<byte> payload)
    {
        var from = PayloadReader.OfFrame(payload, "P6.8");
        var ack = new Ack(from.U64(), new Epoch(from.U64()), from.U64());
        from.End();
        return ack;
    }
}
