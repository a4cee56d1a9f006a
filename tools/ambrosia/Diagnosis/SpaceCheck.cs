using Ambrosia.Inspection.Texts;
using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Tools.Output;

namespace Ambrosia.Tools.Diagnosis;

/// <summary>Verifies that there is room for a few segments and checkpoints, in bytes and in files.</summary>
internal static unsafe class SpaceCheck
{
    private const ulong InodesMin = 1_000;

    private static readonly long s_segmentBytes = new LogOptions().SegmentBytes;

    public static IEnumerable<Finding> Run(string directory)
    {
        Libc.FileSystemStatus status;
        if (Libc.StatVfs(directory, &status) < 0)
            return [Finding.Warn("space", "unknown", PosixError.Of("free space of", directory).Message, "look yourself: df DIR")];
        long free = (long)UInt128.Min((UInt128)status.FragmentBytes * status.FragmentsAvailable, (ulong)long.MaxValue);
        return Judge(free, status.Inodes, status.InodesAvailable);
    }

    /// <summary>Judges the free space.</summary>
    /// <param name="inodes">The number of inodes, or 0 where this file system does not count them.</param>
    public static IEnumerable<Finding> Judge(long free, ulong inodes, ulong inodesFree)
    {
        string what = $"{TextFormat.Size(free)} free";
        string mend =
            "free some, or choose another file system; a log needs about twice the bytes between two checkpoints, and its checkpoints";
        if (free < 2 * s_segmentBytes)
            yield return Finding.Fail("space", what, $"less than two segments of {TextFormat.Size(s_segmentBytes)}", mend);
        else if (free < 16 * s_segmentBytes)
            yield return Finding.Warn("space", what, "little: when it is used up, inputs wait until there is more", mend);
        else yield return Finding.Ok("space", what);
        if (inodes > 0 && inodesFree < InodesMin)
            yield return Finding.Warn("inodes", $"{inodesFree} free", "no new file can be made without one, however much space there is",
                "remove small files on this file system");
        else yield return Finding.Ok("inodes", inodes == 0 ? "not limited" : $"{TextFormat.Number(inodesFree)} free");
    }
}
