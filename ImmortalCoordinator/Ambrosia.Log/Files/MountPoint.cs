namespace Ambrosia.Log.Files;

/// <summary>It describes a mount, which is one line of /proc/self/mountinfo.</summary>
/// <param name="Path">The directory at which it is mounted.</param>
/// <param name="Type">The kind of file system: ext4, nfs4, fuse.sshfs, …</param>
/// <param name="Device">The number of the device, as <c>major:minor</c>. Two mounts of a machine with one number share what they remember.
/// </param>
/// <param name="Options">The options of the mount and of its file system, by name. The value is empty where there is none.</param>
public sealed record MountPoint(
    string Path, string Type, string Source, string Device, IReadOnlyDictionary<string, string> Options)
{
    /// <summary>File systems of this kernel alone: what one process of it changes, every other sees at once.</summary>
    private static readonly HashSet<string> s_ofOneMachine = ["ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "zfs", "bcachefs", "jfs",
        "reiserfs", "nilfs2", "tmpfs", "ramfs", "overlay", "aufs", "fuse.fuse-overlayfs", "vfat", "exfat", "ntfs", "ntfs3", "fuseblk"];

    /// <summary>No other machine can have this file system mounted at the same time.</summary>
    public bool IsOfOneMachine => s_ofOneMachine.Contains(Type);

    public bool Has(string option) => Options.ContainsKey(option);

    public string? ValueOf(string option) => Options.GetValueOrDefault(option);

    public bool Holds(string path) => Path == "/" || path == Path || path.StartsWith(Path + "/", StringComparison.Ordinal);
}
