using Ambrosia.Log;
using Ambrosia.Protocol;

namespace Ambrosia.Tools;

/// <summary>A checkpoint file by its name and first chunk; the rest is read by 'ambrosia verify' only.</summary>
/// <param name="Lsn">Records below it are contained.</param>
/// <param name="PageLsn">Where reading goes on after it; null: the header cannot be read.</param>
/// <param name="Damage">What is wrong with the header; null: nothing.</param>
internal sealed record CheckpointRow(
    string File, ulong Lsn, ulong Epoch, string Replica, long FileBytes, ulong? PageLsn, uint? AppVersion, uint? ImageVersion,
    string? Time, string? Damage)
{
    /// <summary>Null: it was removed since the directory was listed.</summary>
    public static CheckpointRow? Read(LogPlace place, CheckpointFileName name)
    {
        try
        {
            using IFile file = place.Files.Open(place.PathOf(name.ToString()), FileUse.Read);
            return Read(place, name, file);
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
                row.File, $"{row.Lsn}", $"{row.Epoch}", row.Replica, Wording.Size(row.FileBytes), $"{row.AppVersion}",
                $"{row.ImageVersion}", row.Time ?? "",
                row.Damage is { } damage ? $"DAMAGED: {damage}" : "fine");
        }
        return table;
    }

    private static CheckpointRow Read(LogPlace place, CheckpointFileName name, IFile file)
    {
        long bytes = file.Length;
        try
        {
            CheckpointHeader header = CheckpointSummary.ReadHeader(file, place.PathOf(name.ToString()), place.Identity, name);
            return new CheckpointRow(
                name.ToString(), name.Lsn.Value, name.Epoch.Value, name.Replica, bytes, header.PageLsn.Value, header.AppVersion,
                header.ImageVersion,
                Wording.Time(header.TimeMicros), null);
        }
        catch (LogDamage damage)
        {
            return new CheckpointRow(
                name.ToString(), name.Lsn.Value, name.Epoch.Value, name.Replica, bytes, null, null, null, null,
                $"expected {damage.Expected}, found {damage.Found}");
        }
    }
}
