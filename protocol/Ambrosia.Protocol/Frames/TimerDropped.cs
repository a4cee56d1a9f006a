using Ambrosia.Protocol.Payloads;

namespace Ambrosia.Protocol.Frames;

/// <summary>States that the app no longer waits for a timer, because it fired or was cancelled (protocol P5.14).</summary>
public readonly record struct TimerDropped(ulong Timer) : IFramePayload<TimerDropped>
{
    public static FrameType Type => FrameType.TimerDropped;

    public int BytesMax => 8;

    public void Write(ref PayloadWriter to) => to.U64(Timer);

    public static TimerDropped Read(ReadOnlySpan<byte> payload)
    {
        var from = PayloadReader.OfFrame(payload, "P5.14");
        var dropped = new TimerDropped(from.U64());
        if (dropped.Timer == 0) throw from.Violation("P5.14", "timer 0");
        from.End();
        return dropped;
    }
}
