using Ambrosia.Log;
using Ambrosia.Protocol;

namespace Ambrosia.Tools;

/// <summary>
/// What the directory states without its pages: the fence, and the header of every segment. A damaged header hides its file only, so that
/// the rest of the log can still be read.
/// </summary>
/// <param name="Unusable">Headers that cannot be used: a coordinator halts there.</param>
/// <param name="Damage">These, and a fence that contradicts the others.</param>
/// <param name="Readable">The files without those of damaged headers.</param>
/// <param name="Epoch">By the fence; null: it is not there.</param>
internal sealed record HeaderCheck(IReadOnlyList<LogDamage> Unusable, IReadOnlyList<LogDamage> Damage, IFileSystem Readable, ulong? Epoch)
{
    public static HeaderCheck Run(LogPlace place)
    {
        var damage = new List<LogDamage>();
        var hidden = new HashSet<string>();
        SegmentHeader? newest = null;
        foreach (string name in place.Files.List(place.Directory))
        {
            if (SegmentFileName.TryParse(name) is not { } segment) continue;
            try
            {
                if (ReadHeader(place, segment) is { } header && (newest is null || header.Epoch > newest.Epoch)) newest = header;
            }
            catch (LogDamage found)
            {
                damage.Add(found);
                hidden.Add(name);
            }
        }
        LogDamage[] unusable = [.. damage];
        Epoch? epoch = EpochOf(place, damage);
        if (newest is not null && epoch < newest.Epoch)
            damage.Add(
                new LogDamage(place.PathOf($"epoch.{place.Identity.Uuid:D}.{epoch}"), 0, null,
                    $"a fence of epoch {newest.Epoch} at least, which the log has", $"{epoch}: the fence is older than the log"));
        return new HeaderCheck(unusable, damage, new ReadOnlyFiles(place.Files, hidden), epoch?.Value);
    }

    private static SegmentHeader? ReadHeader(LogPlace place, SegmentFileName name)
    {
        string path = place.PathOf(name.ToString());
        try
        {
            using IFile file = place.Files.Open(path, FileUse.Read);
            byte[] bytes = new byte[SegmentHeader.Bytes];
            int count = file.Read(bytes, 0);
            return SegmentHeader.Read(bytes.AsSpan(0, count), path, name, place.Identity);
        }
        catch (LogDamage) when (!place.Files.Exists(path)) // recycled since it was listed
        {
            return null;
        }
        catch (FileNotFoundException) // truncated since it was listed
        {
            return null;
        }
    }

    private static Epoch? EpochOf(LogPlace place, List<LogDamage> damage)
    {
        try
        {
            return Fence.Current(place.Files, place.Directory, place.Identity);
        }
        catch (LogDamage missing)
        {
            damage.Add(missing);
            return null;
        }
    }
}
