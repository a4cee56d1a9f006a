using Ambrosia.Protocol.Payloads;

namespace Ambrosia.Protocol.Records;

/// <summary>States the policies that are in force from this record on (log-format L5.9).</summary>
/// <param name="WindowUs">Length of the idempotency window, in microseconds of log time.</param>
/// <param name="EntriesMax">Keys that the window holds at most.</param>
/// <param name="BytesMax">Bytes that the window holds at most.</param>
public sealed record PolicyRecord(ForkPolicy Forks, ulong WindowUs, ulong EntriesMax, ulong BytesMax) : IRecordBody<PolicyRecord>
{
    /// <summary>The app may send messages of at most this many bytes. The default is not written.</summary>
    public uint MessageBytesMax { get; init; } = SizeLimits.MessageBytesMaxDefault;

    /// <summary>
    /// These policies are in force where the log says nothing else: a fork that fails does not stop the app, the window keeps answers for a
    /// day, at most 100,000 of them and 64 MiB, and messages have at most 64 MiB.
    /// </summary>
    public static PolicyRecord Default { get; } = new(ForkPolicy.Continue, 86_400_000_000, 100_000, 64 << 20);

    public static RecordKind Kind => RecordKind.Policy;

    public void Write(ref PayloadWriter to)
    {
        to.U8((byte)Forks);
        to.U64(WindowUs);
        to.U64(EntriesMax);
        to.U64(BytesMax);
        if (MessageBytesMax != SizeLimits.MessageBytesMaxDefault) to.U32(MessageBytesMax);
    }

    public static PolicyRecord Read(ReadOnlySpan<byte> body)
    {
        var from = PayloadReader.OfFile(body, "L5.10");
        byte forks = from.U8();
        if (forks > (byte)ForkPolicy.Quarantine) throw from.Violation("L5.10", $"fork policy {forks}");
        var record = new PolicyRecord((ForkPolicy)forks, from.U64(), from.U64(), from.U64());
        if (from.Left > 0) record = record with { MessageBytesMax = OtherLimit(ref from) };
        from.End();
        return record;
    }

    /// <summary>Reads a limit that is not the default, since equal policies must be equal bytes.</summary>
    private static uint OtherLimit(ref PayloadReader from)
    {
        uint limit = from.MessageLimit();
        return limit != SizeLimits.MessageBytesMaxDefault ? limit
            : throw from.Violation("L5.10", "the default message limit, which is not written");
    }
}

/// <summary>Says what happens when a fork's handler throws.</summary>
public enum ForkPolicy : byte { Continue = 0, Stop = 1, Quarantine = 2 }

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
