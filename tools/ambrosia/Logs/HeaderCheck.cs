using Ambrosia.Log.Fencing;
using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Log.Segments;
using Ambrosia.Protocol;

namespace Ambrosia.Tools.Logs;

/// <summary>
/// Checks what the directory states without its pages: the fence, the header of every segment, and the length of its file. A damaged header
/// hides only its own file, so that the rest of the log can still be read. A file of another length than its header states hides nothing.
/// </summary>
/// <param name="Unusable">The headers that cannot be used, and those that state another length. A coordinator halts at them.</param>
/// <param name="Damage">The same, and a fence that contradicts the headers.</param>
/// <param name="Readable">The file system without the files of damaged headers.</param>
/// <param name="Epoch">The epoch that the fence states, or null where there is no fence.</param>
internal sealed record HeaderCheck(IReadOnlyList<LogDamage> Unusable, IReadOnlyList<LogDamage> Damage, IFileSystem Readable, ulong? Epoch)
{
    /// <summary>Reads the fence and all headers.</summary>
    public static HeaderCheck Run(LogDirectory log)
    {
        var damage = new List<LogDamage>();
        var hidden = new HashSet<string>();
        SegmentHeader? newest = null;
        foreach (string name in log.Files.List(log.Path))
        {
            if (SegmentFileName.TryParse(name) is not { } segment) continue;
            try
            {
                if (ReadHeader(log, segment, damage) is { } header && (newest is null || header.Epoch > newest.Epoch)) newest = header;
            }
            catch (LogDamage found)
            {
                damage.Add(found);
                hidden.Add(name);
            }
        }
        LogDamage[] unusable = [.. damage];
        Epoch? epoch = EpochOf(log, damage);
        if (newest is not null && epoch < newest.Epoch)
            damage.Add(
                new LogDamage(log.PathOf($"epoch.{log.Identity.Uuid:D}.{epoch}"), 0, null,
                    $"a fence of epoch {newest.Epoch} at least, which the log has", $"{epoch}: the fence is older than the log"));
        return new HeaderCheck(unusable, damage, new ReadOnlyFiles(log.Files, hidden), epoch?.Value);
    }

    private static SegmentHeader? ReadHeader(LogDirectory log, SegmentFileName name, List<LogDamage> lengths)
    {
        string path = log.PathOf(name.ToString());
        try
        {
            using IFile file = log.Files.Open(path, FileUse.Read);
            byte[] bytes = new byte[SegmentHeader.Bytes];
            int count = file.Read(bytes, 0);
            var header = SegmentHeader.Read(bytes.AsSpan(0, count), path, name, log.Identity.Uuid, log.Identity.Shard);
            if (new LogSegment(path, header).DamageOfLength(file) is { } damage && log.Files.Exists(path)) lengths.Add(damage);
            return header;
        }
        catch (LogDamage) when (!log.Files.Exists(path)) // recycled since it was listed
        {
            return null;
        }
        catch (FileNotFoundException) // truncated since it was listed
        {
            return null;
        }
    }

    private static Epoch? EpochOf(LogDirectory log, List<LogDamage> damage)
    {
        try
        {
            return Fence.Current(log.Files, log.Path, log.Identity);
        }
        catch (LogDamage missing)
        {
            damage.Add(missing);
            return null;
        }
    }
}
