namespace Ambrosia.Protocol;

/// <summary>An operator has given a peer up for good: what its name stands for begins anew (log-format L5.14).</summary>
/// <param name="Origin">Its origin id in this log, from 1; no record names it any more.</param>
/// <param name="Uuid">Which instance it was; it is never taken again.</param>
public sealed record ForgetRecord(uint Origin, Guid Uuid) : IRecordBody<ForgetRecord>
{
    public static RecordKind Kind => RecordKind.Forget;

    public void Write(ref PayloadWriter to)
    {
        ArgumentOutOfRangeException.ThrowIfZero(Origin);
        to.U32(Origin);
        to.Uuid(Uuid);
    }

    public static ForgetRecord Read(ReadOnlySpan<byte> body)
    {
        var from = PayloadReader.OfFile(body, "L5.10");
        uint origin = from.U32();
        if (origin == 0) throw from.Violation("L5.14", "the instance itself, origin 0, cannot be forgotten");
        var record = new ForgetRecord(origin, from.Uuid());
        from.End();
        return record;
    }
}
