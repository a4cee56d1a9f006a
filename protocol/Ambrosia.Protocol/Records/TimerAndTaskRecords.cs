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

/// <summary>Holds the result of a NondetTask's body (log-format L5.9).</summary>
/// <param name="Failed">Whether the result is a failure (protocol P4.4); otherwise it is a value.</param>
public sealed record NondetResultRecord(ulong Task, bool Failed, ReadOnlyMemory<byte> Result) : IRecordBody<NondetResultRecord>
{
    public static RecordKind Kind => RecordKind.NondetResult;

    public void Write(ref PayloadWriter to)
    {
        to.U64(Task);
        to.U8(Failed ? (byte)1 : (byte)0);
        to.Raw(Result.Span);
    }

    public static NondetResultRecord Read(ReadOnlySpan<byte> body)
    {
        var from = PayloadReader.OfFile(body, "L5.10");
        return new NondetResultRecord(from.U64(), from.Flag(), from.Rest().ToArray());
    }

    public bool Equals(NondetResultRecord? other) =>
        other is not null && Task == other.Task && Failed == other.Failed && Result.Span.SequenceEqual(other.Result.Span);

    public override int GetHashCode() => HashCode.Combine(Task, Failed, Result.Length);
}
