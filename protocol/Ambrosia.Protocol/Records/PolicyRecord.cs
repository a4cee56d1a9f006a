namespace Ambrosia.Protocol;

/// <summary>The policies in force from here on (log-format L5.9).</summary>
/// <param name="WindowUs">Length of the idempotency window, in microseconds of log time.</param>
/// <param name="EntriesMax">Keys that the window holds at most.</param>
/// <param name="BytesMax">Bytes that the window holds at most.</param>
public sealed record PolicyRecord(ForkPolicy Forks, ulong WindowUs, ulong EntriesMax, ulong BytesMax) : IRecordBody<PolicyRecord>
{
    /// <summary>In force where the log says nothing else: go on, and keep answers for a day, 100,000 of them, 64 MiB.</summary>
    public static PolicyRecord Default { get; } = new(ForkPolicy.Continue, 86_400_000_000, 100_000, 64 << 20);

    public static RecordKind Kind => RecordKind.Policy;

    public void Write(ref PayloadWriter to)
    {
        to.U8((byte)Forks);
        to.U64(WindowUs);
        to.U64(EntriesMax);
        to.U64(BytesMax);
    }

    public static PolicyRecord Read(ReadOnlySpan<byte> body)
    {
        var from = PayloadReader.OfFile(body, "L5.10");
        byte forks = from.U8();
        if (forks > (byte)ForkPolicy.Quarantine) throw from.Violation("L5.10", $"fork policy {forks}");
        var record = new PolicyRecord((ForkPolicy)forks, from.U64(), from.U64(), from.U64());
        from.End();
        return record;
    }
}
