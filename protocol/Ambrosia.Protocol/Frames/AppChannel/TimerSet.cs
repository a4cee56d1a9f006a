namespace Ambrosia.Protocol;

/// <summary>The app waits for a timer (protocol P5.14); a later frame for the same one replaces when it is due.</summary>
/// <param name="Timer">From 1, counted through the instance's life.</param>
/// <param name="DueUs">Microseconds since 1970.</param>
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
