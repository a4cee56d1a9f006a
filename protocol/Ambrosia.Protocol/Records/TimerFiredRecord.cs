using Ambrosia.Protocol.Payloads;

namespace Ambrosia.Protocol.Records;

/// <summary>States that a timer is due (log-format L5.9).</summary>
/// <param name="DueUs">Time at which it was due, in microseconds since 1970.</param>
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
