using Ambrosia.Protocol.Payloads;

namespace Ambrosia.Protocol.Frames;

/// <summary>States that the app waits for a timer (protocol P5.14). A later frame for the same timer changes when it is due.</summary>
/// <param name="Timer">Number of the timer among all of the instance's life, from 1.</param>
/// <param name="DueUs">Time at which it is due, in microseconds since 1970.</param>
public readonly record struct TimerSet(ulong Timer, long DueUs) : IFramePayload<TimerSet>
{
    public static FrameType Type => FrameType.TimerSet;

    public int BytesMax => 16;

    public void Write(ref PayloadWriter to)
    {
        to.U64(Timer);
        to.I64(DueUs);
    }

    public static TimerSet Read(ReadOnlySpan<byte> payload)
    {
        var from = PayloadReader.OfFrame(payload, "P5.14");
        var set = new TimerSet(from.U64(), from.I64());
        if (set.Timer == 0) throw from.Violation("P5.14", "timer 0");
        from.End();
        return set;
    }
}
