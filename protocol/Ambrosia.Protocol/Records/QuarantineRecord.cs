namespace Ambrosia.Protocol;

/// <summary>A message is set aside, tried again or dropped (log-format L5.9). No version writes it yet.</summary>
/// <param name="Run">Position of the record with the message.</param>
/// <param name="Index">Which message of it, from 0.</param>
public sealed record QuarantineRecord(Lsn Run, uint Index, QuarantineAction Action) : IRecordBody<QuarantineRecord>
{
    public static RecordKind Kind => RecordKind.Quarantine;

    public void Write(ref PayloadWriter to)
    {
        to.U64(Run.Value);
        to.U32(Index);
        to.U8((byte)Action);
    }

    public static QuarantineRecord Read(ReadOnlySpan<byte> body)
    {
        var from = PayloadReader.OfFile(body, "L5.10");
        var run = from.Lsn();
        uint index = from.U32();
        byte action = from.U8();
        if (action > (byte)QuarantineAction.Drop) throw from.Violation("L5.10", $"quarantine action {action}");
        from.End();
        return new QuarantineRecord(run, index, (QuarantineAction)action);
    }
}
