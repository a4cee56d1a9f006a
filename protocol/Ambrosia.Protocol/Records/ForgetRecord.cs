using Ambrosia.Protocol.Payloads;

namespace Ambrosia.Protocol.Records;

/// <summary>
/// States that an operator has given up a peer for good (log-format L5.14). An instance that comes later under the same name is a new peer.
/// </summary>
/// <param name="Origin">Origin id of the peer in this log, from 1; no later record names it.</param>
/// <param name="Uuid">UUID of the instance, which is never accepted again.</param>
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
