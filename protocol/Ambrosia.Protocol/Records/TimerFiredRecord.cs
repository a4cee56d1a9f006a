namespace Ambrosia.Protocol;

/// <summary>A timer is due (log-format L5.9).</summary>
/// <param name="DueUs">Microseconds since 1970.</param>
public sealed record TimerFiredRecord(ulong Timer, long DueUs) : IRecordBody<TimerFiredRecord>
{
    public static RecordKind Kind => RecordKind.TimerFired;

    public void Write(ref PayloadWriter to)
    {
        to.U64(Timer);
        to.I64(DueUs);
    }

    public static TimerFiredRecord Read(ReadOnlySpan<byte> body)
    {
        var from = PayloadReader.OfFile(body, "L5.10");
        var record = new TimerFiredRecord(from.U64(), from.I64());
        from.End();
        return record;
    }
}
