using Ambrosia.Inspection.Checkpoints;
using Ambrosia.Inspection.Texts;
using Ambrosia.Log.Checkpoints;
using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Log.Instances;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Checkpoints;
using Ambrosia.Tools.Logs;
using Ambrosia.Tools.Output;

namespace Ambrosia.Tools.Listing;

/// <summary>A checkpoint file as its name and first chunk describe it. Only 'ambrosia verify' reads the rest.</summary>
/// <param name="Lsn">The position below which it contains all records.</param>
/// <param name="PageLsn">The position of the page with which replay goes on, or null where the header cannot be read.</param>
/// <param name="Damage">What is wrong with the header, or null.</param>
internal sealed record CheckpointRow(
    string File, ulong Lsn, ulong Epoch, string Replica, long FileBytes, ulong? PageLsn, uint? AppVersion, uint? ImageVersion,
    string? Time, string? Damage)
{
    /// <summary>Reads a checkpoint's header; returns null where the file was removed since the directory was listed.</summary>
    public static CheckpointRow? Read(LogDirectory log, CheckpointFileName name)
    {
        try
        {
            using IFile file = log.Files.Open(log.PathOf(name.ToString()), FileUse.Read);
            return Read(log, name, file);
        }
        catch (FileNotFoundException)
        {
            return null;
        }
    }

    public static TextTable Table(IEnumerable<CheckpointRow> rows)
    {
        var table = new TextTable("checkpoint", ">Lsn", ">epoch", "replica", ">file", ">app", ">image", "taken", "header");
        foreach (CheckpointRow row in rows)
        {
            table.Add(
                row.File, $"{row.Lsn}", $"{row.Epoch}", row.Replica, TextFormat.Size(row.FileBytes), $"{row.AppVersion}",
                $"{row.ImageVersion}", row.Time ?? "",
                row.Damage is { } damage ? $"DAMAGED: {damage}" : "fine");
        }
        return table;
    }

    private static CheckpointRow Read(LogDirectory log, CheckpointFileName name, IFile file)
    {
        long bytes = file.Length;
        try
        {
            CheckpointHeader header = CheckpointSummary.ReadHeader(file, log.PathOf(name.ToString()), log.Identity, name);
            return new CheckpointRow(
                name.ToString(), name.Lsn.Value, name.Epoch.Value, name.Replica, bytes, header.PageLsn.Value, header.AppVersion,
                header.ImageVersion,
                TextFormat.Time(header.TimeMicros), null);
        }
        catch (LogDamage damage)
        {
            return new CheckpointRow(
                name.ToString(), name.Lsn.Value, name.Epoch.Value, name.Replica, bytes, null, null, null, null,
                $"expected {damage.Expected}, found {damage.Found}");
        }
    }
}
