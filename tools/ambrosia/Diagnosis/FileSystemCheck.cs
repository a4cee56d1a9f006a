using Ambrosia.Log.Files;

namespace Ambrosia.Tools.Diagnosis;

/// <summary>
/// Judges the kind of the file system: what it means for flushes, for locks, and for the fence, whose name must be the same for everybody.
/// </summary>
internal static class FileSystemCheck
{
    private const string Check = "file system";
    private const string LocalDisk = "put the log on a local disk (ext4, xfs)";
    private const string OneMachine =
        "run all replicas that share this directory on one machine; a replica elsewhere gets a log of its own on storage whose names are coherent";

    private static readonly HashSet<string> s_objectStores = ["fuse.s3fs", "fuse.gcsfuse", "fuse.goofys", "fuse.rclone", "fuse.blobfuse",
        "fuse.blobfuse2", "fuse.mount-s3", "fuse.mountpoint-s3"];
    private static readonly HashSet<string> s_hostFolders = ["vboxsf", "prl_fs", "vmhgfs", "fuse.vmhgfs-fuse", "drvfs", "fuse.osxfs",
        "fuse.grpcfuse", "fakeowner", "fuse.sshfs"];

    public static IEnumerable<Finding> Run(MountPoint? mount)
    {
        if (mount is null)
        {
            yield return Finding.Warn(Check, "unknown: /proc/self/mountinfo says nothing of this place",
                "its mount options cannot be judged", "look at them yourself: findmnt -T DIR");
            yield break;
        }
        yield return Judge(mount);
        if (mount.Type is "nfs" or "nfs4") yield return JudgeNfs(mount);
        if (mount.Type is "cifs" or "smb3" or "smbfs") yield return JudgeSmb(mount);
        if (mount.Type is "9p" or "virtiofs") yield return JudgeGuest(mount);
        if (mount.Type is "lustre") yield return JudgeLustre(mount);
    }

    private static Finding Judge(MountPoint mount)
    {
        string what = $"{mount.Type} on {mount.Path} ({mount.Source})";
        if (s_objectStores.Contains(mount.Type))
            return Finding.Fail(Check, what,
                "an object store behind a file system has no locks, no atomic rename and no flush of a part of a file", LocalDisk);
        if (s_hostFolders.Contains(mount.Type))
            return Finding.Fail(Check, what,
                "a folder shared through a program: locks are not passed on, and a flush ends in the other side's memory", LocalDisk);
        return mount.Type switch
        {
            "tmpfs" or "ramfs" =>
                Finding.Fail(Check, what, "memory: nothing is left after the machine stops, whatever was flushed", LocalDisk),
            "overlay" or "aufs" or "fuse.fuse-overlayfs" =>
                Finding.Warn(Check, what, "the layer of a container goes when the container goes, and the log with it",
                    "mount a volume of the host there"),
            "vfat" or "exfat" or "msdos" or "ntfs" or "ntfs3" or "fuseblk" =>
                Finding.Fail(Check, what, "no journal, links or permissions as a log needs them", LocalDisk),
            "ext2" => Finding.Warn(Check, what, "no journal: after a power failure the file system itself may need repair", LocalDisk),
            "nfs" or "nfs4" or "cifs" or "smb3" or "smbfs" or "9p" or "virtiofs" or "lustre" =>
                Finding.Ok(Check, $"{what}: a network file system, see below"),
            "ceph" or "gfs2" or "ocfs2" or "gpfs" or "beegfs" or "fuse.glusterfs" or "fuse.ceph-fuse" =>
                Finding.Fail(Check, what, "a cluster file system: what this machine sees says nothing of what another one does",
                    "run 'ambrosia doctor DIR --meet NAME' on two machines that are to have a replica here, at once: only that tells whether names are coherent"),
            "squashfs" or "iso9660" or "erofs" => Finding.Fail(Check, what, "it cannot be written", LocalDisk),
            _ when mount.IsOfOneMachine => Finding.Ok(Check, what),
            _ when mount.Type.StartsWith("fuse", StringComparison.Ordinal) =>
                Finding.Warn(Check, what, "what a flush, a lock or a rename means here is up to the program behind it", LocalDisk),
            _ => Finding.Warn(Check, what, "this kind is not known to the doctor", $"rely on the probes below, or {LocalDisk}"),
        };
    }

    private static Finding JudgeNfs(MountPoint mount)
    {
        const string check = "nfs";
        if (mount.Has("nolock") || mount.ValueOf("local_lock") is "all" or "flock")
            return Finding.Fail(check, mount.Has("nolock") ? "nolock" : $"local_lock={mount.ValueOf("local_lock")}",
                "two machines both get the lock, so that a stopped primary is not told from a living one",
                "mount without nolock and local_lock (NFS 4)");
        bool isCoherent = mount.Has("noac") || mount.ValueOf("lookupcache") is "none" || mount.ValueOf("actimeo") is "0"
            || (mount.ValueOf("acdirmin") is "0" && mount.ValueOf("acdirmax") is "0");
        if (!isCoherent)
            return Finding.Warn(check, "attributes and names are cached (actimeo, lookupcache)",
                "the fence is a file's name; another machine may see an old one and believe that it is still primary",
                $"mount with lookupcache=none,noac; or {OneMachine}");
        return mount.Has("soft") || mount.Has("softerr")
            ? Finding.Warn(check, "soft", "a server that is away for a while becomes a write error, and the coordinator ends (74) at each",
                "mount with hard")
            : Finding.Ok(check, "names are not cached, locks go to the server");
    }

    private static Finding JudgeSmb(MountPoint mount)
    {
        const string check = "smb";
        if (mount.Has("nobrl") || mount.Has("nolock"))
            return Finding.Fail(check, "nobrl", "locks never reach the server: they never exclude anyone", "mount without nobrl");
        if (mount.ValueOf("cache") is "loose")
            return Finding.Fail(check, "cache=loose", "reads come from this machine's memory although another has written",
                "mount with cache=strict or cache=none");
        return mount.Has("noac") || mount.ValueOf("actimeo") is "0"
            ? Finding.Ok(check, "names are not cached, locks go to the server")
            : Finding.Warn(check, $"actimeo={mount.ValueOf("actimeo") ?? "1"}",
                "the fence is a file's name, and names are cached: another machine may see an old one",
                $"mount with actimeo=0; or {OneMachine}");
    }

    private static Finding JudgeGuest(MountPoint mount)
    {
        string cache = mount.ValueOf("cache") ?? "none";
        return cache is "loose" or "fscache" or "mmap" or "always" or "0xf" or "0x8f"
            ? Finding.Fail(mount.Type, $"cache={cache}", "a flush may end in the guest's memory, and another guest reads old names",
                "mount with cache=none, or give the machine a disk of its own")
            : Finding.Warn(mount.Type, $"cache={cache}",
                "a folder of the host: whether a flush reaches the disk is the host's affair, and locks hold in this guest only",
                $"give the machine a disk of its own; or {OneMachine}");
    }

    private static Finding JudgeLustre(MountPoint mount) => mount.Has("localflock") || mount.Has("noflock")
        ? Finding.Fail("lustre", mount.Has("noflock") ? "noflock" : "localflock", "locks hold on this machine only", "mount with flock")
        : Finding.Ok("lustre", "locks hold on all machines");
}

/// <summary>Finds mount options that make flushes lie or writes impossible on any file system.</summary>
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
