using Ambrosia.Log;

namespace Ambrosia.TestKit;

/// <summary>
/// One process's view of a <see cref="SimulatedFileSystem"/>: what it opens and locks is its own and is freed when it dies. After its death
/// every operation throws <see cref="SimulatedCrash"/>; only disposing is still allowed, and does nothing.
/// </summary>
public sealed class SimulatedProcess : IFileSystem
{
    private readonly SimulatedFileSystem disk;
    private readonly HashSet<SimulatedFile> open = [];

    internal SimulatedProcess(SimulatedFileSystem disk, string id)
    {
        this.disk = disk;
        Id = id;
    }

    public string Id { get; }

    public bool IsAlive { get; private set; } = true;

    /// <summary>Files that it has open: a test's look at leaks.</summary>
    public int OpenFiles => open.Count;

    /// <summary>kill -9, see <see cref="SimulatedFileSystem.Kill"/>.</summary>
    public void Kill() => disk.Kill(this);

    public IFile Open(string path, FileUse use) => disk.Open(this, path, use);

    public IFile Create(string path) => disk.Create(this, path);

    public bool Exists(string path) => disk.Exists(this, path);

    public IReadOnlyList<string> List(string directory) => disk.List(this, directory);

    public void CreateDirectory(string path) => disk.CreateDirectory(this, path);

    public void Rename(string from, string to) => disk.Rename(this, from, to);

    public bool TryRenameNew(string from, string to) => disk.TryRenameNew(this, from, to);

    public bool TryLink(string existing, string link) => disk.TryLink(this, existing, link);

    public void Delete(string path) => disk.Delete(this, path);

    public void FlushDirectory(string path) => disk.FlushDirectory(this, path);

    public long FreeBytes(string directory) => disk.FreeBytes(this, directory);

    public IFileLock? TryLock(string path) => disk.TryLock(this, path);

    /// <summary>As <see cref="TryLock"/>; null also when the file is not there.</summary>
    /// <exception cref="NotSupportedException">It would have to wait: a simulation polls <see cref="TryLock"/> on virtual time.</exception>
    public IFileLock? WaitForLock(string path, CancellationToken stop) => disk.LockWithoutWaiting(this, path);

    public override string ToString() => IsAlive ? Id : $"{Id} (dead)";

    internal IEnumerable<Inode> OpenInodes => open.Select(static file => file.Inode);

    internal SimulatedFile Keep(SimulatedFile file)
    {
        file.Inode.Handles++;
        open.Add(file);
        return file;
    }

    internal void Forget(SimulatedFile file) => open.Remove(file);

    internal void Die()
    {
        IsAlive = false;
        foreach (SimulatedFile file in open.ToList()) file.Dispose();
    }
}
