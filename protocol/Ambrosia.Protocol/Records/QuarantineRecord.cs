namespace Ambrosia.Protocol;

/// <summary>A message is set aside, tried again or dropped (log-format L5.9).</summary>
public sealed record QuarantineRecord(MessagePlace Message, QuarantineAction Action) : IRecordBody<QuarantineRecord>
{
    public static RecordKind Kind => RecordKind.Quarantine;

    public void Write(ref PayloadWriter to)
    {
        Message.Write(ref to);
        to.U8((byte)Action);
    }

    public static QuarantineRecord Read(ReadOnlySpan<byte> body)
    {
        var from = PayloadReader.OfFile(body, "L5.10");
        MessagePlace message = MessagePlace.Read(ref from);
        byte action = from.U8();
        if (action > (byte)QuarantineAction.Drop) throw from.Violation("L5.10", $"quarantine action {action}");
        from.End();
        return new QuarantineRecord(message, (QuarantineAction)action);
    }
}
