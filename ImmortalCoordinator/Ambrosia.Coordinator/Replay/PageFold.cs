using System.Buffers.Binary;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Records;
using Ambrosia.Protocol.Runs;

namespace Ambrosia.Coordinator.Replay;

/// <summary>Takes the records of one page into a fold; of a spanning record the beginning says all that the fold wants.</summary>
internal static class PageFold
{
    /// <param name="remaining">Bytes of the page's one record that follow in later pages.</param>
    /// <param name="from">Records below this are in the fold already.</param>
    /// <param name="to">Records from here on are not wanted.</param>
    public static void Fold(ReplayState state, ReadOnlySpan<byte> records, Lsn first, uint remaining, Lsn from, Lsn to)
    {
        if (remaining > 0)
        {
            if (first >= from && first < to) FoldSpanning(state, records, first);
            return;
        }
        var reader = new RecordReader(records, first);
        while (reader.Next())
            if (reader.Lsn >= from && reader.Lsn < to) state.Fold(reader);
    }

    public static void FoldSpanning(ReplayState state, ReadOnlySpan<byte> records, Lsn lsn)
    {
        var kind = (RecordKind)records[4];
        if (kind is RecordKind.Digest or RecordKind.ClientRequest or RecordKind.NondetResult) return; // nothing of it is in the fold
        if (kind is not (RecordKind.Run or RecordKind.ImpulseRun))
            throw new ProtocolViolation("L4.3", $"a {kind} record at {lsn} spans pages");
        uint runBytes = BinaryPrimitives.ReadUInt32LittleEndian(records);
        state.FoldRun(lsn, RunHeader.ReadBeginning(records[RecordHeader.Bytes..], runBytes));
    }
}
