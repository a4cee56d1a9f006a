using Ambrosia.Protocol.Payloads;

namespace Ambrosia.Protocol.Records;

/// <summary>States that the instance begins; this is the first record of every log (log-format L5.5).</summary>
/// <param name="CreatedUs">Time of the creation, in microseconds since 1970.</param>
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
