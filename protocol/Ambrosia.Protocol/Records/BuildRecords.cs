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
        return record.AppVersion > 0 ? record : throw from.Violation("L5.10", "app version 0");
    }
}

/// <summary>
/// States which build of the app, and what else, executes what this epoch logs behind it (log-format L5.18). It has no effect on what is
/// executed.
/// </summary>
/// <param name="Epoch">That of the primary that logs it.</param>
/// <param name="Build">Null when the app did not say.</param>
/// <param name="Binding">Name and version of the binding, as it said them.</param>
/// <param name="ContractHash">The hash of the contract that the app serves.</param>
/// <param name="Coordinator">Version of the coordinator.</param>
public sealed record BuildRecord(
    Epoch Epoch, uint AppVersion, BuildId? Build, string Binding, string Runtime, string Culture, string Cpu, ulong ContractHash,
    string Coordinator) : IRecordBody<BuildRecord>
{
    internal const int ShortTextMax = 64, RuntimeMax = 128;

    public static RecordKind Kind => RecordKind.Build;

    public void Write(ref PayloadWriter to)
    {
        to.U64(Epoch.Value);
        to.U32(AppVersion);
        BuildId.Write(ref to, Build);
        to.String(Binding, ShortTextMax);
        to.String(Runtime, RuntimeMax);
        to.String(Culture, ShortTextMax);
        to.String(Cpu, ShortTextMax);
        to.U64(ContractHash);
        to.String(Coordinator, ShortTextMax);
    }

    public static BuildRecord Read(ReadOnlySpan<byte> body)
    {
        var from = PayloadReader.OfFile(body, "L5.10");
        var record = new BuildRecord(
            new Epoch(from.U64()), from.U32(), BuildId.Read(ref from, "L5.10"), from.String(ShortTextMax),
            from.String(RuntimeMax), from.String(ShortTextMax), from.String(ShortTextMax), from.U64(),
            from.String(ShortTextMax));
        from.End();
        return record.AppVersion > 0 ? record : throw from.Violation("L5.10", "app version 0");
    }
}

/// <summary>
/// States that another version of the app executes from here on (log-format L5.16), and names the checkpoint that it begins with: nothing
/// stands between that and this record.
/// </summary>
/// <param name="Checkpoint">Lsn of the checkpoint of the new version.</param>
/// <param name="CheckpointEpoch">Epoch of that checkpoint.</param>
/// <param name="Replica">Name of the replica that wrote it.</param>
/// <param name="PartHash">CRC-64/NVME of the checkpoint's coordinator part.</param>
/// <param name="ImageHash">CRC-64/NVME of its image.</param>
/// <param name="Build">The build of the app that made it; null when that did not say.</param>
public sealed record UpgradeRecord(
    uint VersionFrom, uint VersionTo, Lsn Checkpoint, Epoch CheckpointEpoch, string Replica, ulong PartHash, ulong ImageHash,
    BuildId? Build) : IRecordBody<UpgradeRecord>
{
    public static RecordKind Kind => RecordKind.Upgrade;

    public void Write(ref PayloadWriter to)
    {
        to.U32(VersionFrom);
        to.U32(VersionTo);
        to.U64(Checkpoint.Value);
        to.U64(CheckpointEpoch.Value);
        to.Name(Replica);
        to.U64(PartHash);
        to.U64(ImageHash);
        BuildId.Write(ref to, Build);
    }

    public static UpgradeRecord Read(ReadOnlySpan<byte> body)
    {
        var from = PayloadReader.OfFile(body, "L5.10");
        var record = new UpgradeRecord(from.U32(), from.U32(), from.Lsn(), new Epoch(from.U64()), from.Name(), from.U64(), from.U64(),
            BuildId.Read(ref from, "L5.10"));
        from.End();
        if (record.VersionFrom == 0 || record.VersionTo <= record.VersionFrom)
            throw from.Violation("L5.10", $"an upgrade from version {record.VersionFrom} to {record.VersionTo}");
        return record;
    }
}
