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

/// <summary>States that the app's version changes at this record's end (log-format L5.9). No version of Ambrosia writes it yet.</summary>
/// <param name="Checkpoint">Lsn of the checkpoint of the new version.</param>
/// <param name="CheckpointEpoch">Epoch of that checkpoint.</param>
/// <param name="Replica">Name of the replica that wrote it.</param>
/// <param name="Digest">Digest in the trailer of the checkpoint.</param>
public sealed record UpgradeRecord(
    uint VersionFrom, uint VersionTo, Lsn Checkpoint, Epoch CheckpointEpoch, string Replica, ulong Digest) : IRecordBody<UpgradeRecord>
{
    public static RecordKind Kind => RecordKind.Upgrade;

    public void Write(ref PayloadWriter to)
    {
        to.U32(VersionFrom);
        to.U32(VersionTo);
        to.U64(Checkpoint.Value);
        to.U64(CheckpointEpoch.Value);
        to.Name(Replica);
        to.U64(Digest);
    }

    public static UpgradeRecord Read(ReadOnlySpan<byte> body)
    {
        var from = PayloadReader.OfFile(body, "L5.10");
        var record = new UpgradeRecord(from.U32(), from.U32(), from.Lsn(), new Epoch(from.U64()), from.Name(), from.U64());
        from.End();
        return record;
    }
}
