using Ambrosia.Protocol.Payloads;

namespace Ambrosia.Protocol.Records;

/// <summary>Asks a replica for a checkpoint (log-format L5.8, protocol P5.8).</summary>
/// <param name="BoundBytes">Log bytes after which the checkpoint is taken even with suspended handlers; 0 to wait for a quiet
/// record.</param>
/// <param name="Replica">Name of the replica that is to take it.</param>
public sealed record CheckpointMarkRecord(Epoch Epoch, ulong BoundBytes, string Replica) : IRecordBody<CheckpointMarkRecord>
{
    public static RecordKind Kind => RecordKind.CheckpointMark;

    public void Write(ref PayloadWriter to)
    {
        to.U64(Epoch.Value);
        to.U64(BoundBytes);
        to.Name(Replica);
    }

    public static CheckpointMarkRecord Read(ReadOnlySpan<byte> body)
    {
        var from = PayloadReader.OfFile(body, "L5.10");
        var record = new CheckpointMarkRecord(new Epoch(from.U64()), from.U64(), from.Name());
        from.End();
        return record;
    }
}
