using Ambrosia.Protocol.Payloads;

namespace Ambrosia.Protocol.Records;

/// <summary>States that a message is put into quarantine, tried again or dropped (log-format L5.9).</summary>
public sealed record QuarantineRecord(MessagePlace Message, QuarantineAction Action) : IRecordBody<QuarantineRecord>
{
    public static RecordKind Kind => RecordKind.Quarantine;

    public void Write(ref PayloadWriter to)
    {
        to.Place(Message);
        to.U8((byte)Action);
    }

    public static QuarantineRecord Read(ReadOnlySpan<byte> body)
    {
        var from = PayloadReader.OfFile(body, "L5.10");
        MessagePlace message = from.Place();
        byte action = from.U8();
        if (action > (byte)QuarantineAction.Drop) throw from.Violation("L5.10", $"quarantine action {action}");
        from.End();
        return new QuarantineRecord(message, (QuarantineAction)action);
    }
}

/// <summary>Says what is done with a message whose handler threw.</summary>
public enum QuarantineAction : byte { SetAside = 0, Retry = 1, Drop = 2 }
