namespace Ambrosia.Protocol;

/// <summary>Record 1 of every log: the instance begins (log-format L5.5).</summary>
/// <param name="CreatedUs">Microseconds since 1970.</param>
public sealed record FirstStartRecord(Guid Uuid, ulong CreatedUs, uint AppVersion, string Name) : IRecordBody<FirstStartRecord>
{
    public static RecordKind Kind => RecordKind.FirstStart;

    public void Write(ref PayloadWriter to)
    {
        to.Uuid(Uuid);
        to.U64(CreatedUs);
        to.U32(AppVersion);
        to.Name(Name);
    }

    public static FirstStartRecord Read(ReadOnlySpan<byte> body)
    {
        var from = PayloadReader.OfFile(body, "L5.10");
        var record = new FirstStartRecord(from.Uuid(), from.U64(), from.U32(), from.Name());
        from.End();
        return record;
    }
}
