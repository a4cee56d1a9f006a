using Ambrosia.Log.Checkpoints;
using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Log.Instances;
using Ambrosia.Log.Reading;
using Ambrosia.Log.Segments;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Hashing;
using Ambrosia.Protocol.Records;

namespace Ambrosia.Log.Retention;

/// <summary>
/// Judges whether a checkpoint is of the app version that the log has at its place (log-format L6.6). One of a later version counts only if
/// the next record of the log is the Upgrade that names it: whoever made it may have died before that. It only reads. Any thread.
/// </summary>
internal static class CheckpointVersion
{
    /// <summary>Says why a checkpoint, which was verified before, does not count; empty when it does.</summary>
    public static string WhatIsWrong(LogLocation location, CheckpointHeader header, LogChain chain)
    {
        uint version = chain.VersionAt(location.Files, header.Lsn);
        if (header.AppVersion <= version) return "";
        if (UpgradeBehind(location, header.Lsn, chain) is not { } upgrade || upgrade.VersionTo != header.AppVersion
            || upgrade.Checkpoint != header.Lsn || header.Epoch < upgrade.CheckpointEpoch)
            return $"it is of app version {header.AppVersion}, the log there of {version}: an upgrade that never happened";
        // One that was made again behind the upgrade has the image of the record, and a coordinator's part of its own.
        bool isNamed = (upgrade.CheckpointEpoch, upgrade.Replica) == (header.Epoch, header.Replica);
        try
        {
            using CheckpointReader reader =
                CheckpointReader.Open(location.Files, location.PathOf(header.FileName.ToString()), location.Identity);
            bool isPart = !isNamed || upgrade.PartHash == ChannelHash.Append(0, reader.CoordinatorBytes.Span);
            return isPart && upgrade.ImageHash == reader.ImageHash ? ""
                : $"it is of app version {header.AppVersion}, and the Upgrade that names it states other hashes of its parts";
        }
        catch (Exception gone) when (gone is LogDamage or FileNotFoundException)
        {
            return gone.Message;
        }
    }

    /// <summary>Returns the Upgrade that begins the segment at or behind a position; null when that begins with none.</summary>
    private static UpgradeRecord? UpgradeBehind(LogLocation location, Lsn lsn, LogChain chain)
    {
        LogSegment? begun = null;
        foreach (LogSegment segment in chain.Segments)
            if (segment.FirstLsn >= lsn && (begun is null || segment.FirstLsn == begun.FirstLsn)) begun = segment;
        using IFile? file = begun?.TryOpen(location.Files, isHeld: false);
        if (file is null) return null;
        var buffer = new PageBuffer();
        PageFault? fault = new PageInspector(begun!).Read(
            file, begun!.FirstLsn, new Lsn(ulong.MaxValue), begun.Header.PredecessorHash, ref buffer);
        if (fault is not null || buffer.Flags != PageFlags.StatesVersion) return null;
        ReadOnlySpan<byte> record = buffer.Records;
        return RecordHeader.Read(record).Kind == RecordKind.Upgrade ? UpgradeRecord.Read(record[RecordHeader.Bytes..]) : null;
    }
}
