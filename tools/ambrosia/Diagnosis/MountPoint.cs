namespace Ambrosia.Tools;

/// <summary>A line of /proc/self/mountinfo.</summary>
/// <param name="Path">Where it is mounted.</param>
/// <param name="Type">ext4, nfs4, fuse.sshfs, …</param>
/// <param name="Options">Of the mount and of its file system, by name; the value is empty where there is none.</param>
internal sealed record MountPoint(string Path, string Type, string Source, IReadOnlyDictionary<string, string> Options)
{
    public bool Has(string option) => Options.ContainsKey(option);

    public string? ValueOf(string option) => Options.GetValueOrDefault(option);

    public bool Holds(string path) => Path == "/" || path == Path || path.StartsWith(Path + "/", StringComparison.Ordinal);
}
