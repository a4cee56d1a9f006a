namespace Ambrosia.Tools;

/// <summary>Options that make flushes lie or writes impossible, whatever the file system.</summary>
internal static class MountOptionCheck
{
    private const string Check = "mount options";

    public static IEnumerable<Finding> Run(MountPoint mount)
    {
        Finding[] found = [.. Bad(mount)];
        return found.Length > 0 ? found
            : [Finding.Ok(Check,
                string.Join(',',
                    mount.Options.Select(static option => option.Value.Length == 0 ? option.Key : $"{option.Key}={option.Value}")))];
    }

    private static IEnumerable<Finding> Bad(MountPoint mount)
    {
        if (mount.Has("ro")) yield return Finding.Fail(Check, "ro", "nothing can be written here", "mount it read-write");
        if (mount.Has("nobarrier") || mount.ValueOf("barrier") is "0" or "off" or "none" || mount.ValueOf("fsync_mode") is "nobarrier")
            yield return Finding.Fail(Check,
                mount.Has("nobarrier") ? "nobarrier" : mount.ValueOf("fsync_mode") is { } mode ? $"fsync_mode={mode}"
                : $"barrier={mount.ValueOf("barrier")}",
                "a flush ends in the disk's volatile cache: a power failure loses what was acknowledged",
                "mount with barriers, unless every cache below has a battery");
        if (mount.Has("volatile") || mount.ValueOf("fsync") is "volatile")
            yield return Finding.Fail(Check, mount.Has("volatile") ? "volatile" : "fsync=volatile", "this overlay ignores flushes",
                "mount it without volatile, or mount a volume of the host");
        if (mount.ValueOf("data") is "writeback")
            yield return Finding.Warn(Check, "data=writeback",
                "after a crash new blocks may show old content; the log sees that, but what it drops there is told as torn bytes",
                "mount with data=ordered, the default");
        if (mount.Has("sync") || mount.Has("dirsync"))
            yield return Finding.Warn(Check, mount.Has("sync") ? "sync" : "dirsync",
                "each write waits for the disk by itself, so that groups of pages gain nothing",
                "mount without it: the log flushes where it must");
    }
}
