using Ambrosia.Log.Files;

namespace Ambrosia.TestKit;

/// <summary>
/// One process's view of a <see cref="SimulatedFileSystem"/>: what it opens and locks is its own and is freed when it dies. After its death
/// every operation throws <see cref="SimulatedCrash"/>; only disposing is still allowed, and does nothing.
/// </summary>
public sealed class SimulatedProcess : IFileSystem
{
    private readonly SimulatedFileSystem _disk;
    private readonly HashSet<SimulatedFile> _open = [];

    internal SimulatedProcess(SimulatedFileSystem disk, string id)
    {
        _disk = disk;
        Id = id;
    }

    public string Id { get; }

    public bool IsAlive { get; private set; } = true;

    /// <summary>Files that it has open: a test's look at leaks.</summary>
    public int OpenFiles => _open.Count;

    /// <summary>It may have so many files open at once; one more fails with EMFILE.</summary>
    public int OpenFilesMax { get; set; } = int.MaxValue;

    /// <summary>kill -9, see <see cref="SimulatedFileSystem.Kill"/>.</summary>
    public void Kill() => _disk.Kill(this);

    public IFile Open(string path, FileUse use) => _disk.Open(this, path, use);

    public IFile Create(string path) => _disk.Create(this, path);

    public bool Exists(string path) => _disk.Exists(this, path);

    public IReadOnlyList<string> List(string directory) => _disk.List(this, directory);

    public void CreateDirectory(string path) => _disk.CreateDirectory(this, path);

    public void Rename(string from, string to) => _disk.Rename(this, from, to);

    public bool TryRenameNew(string from, string to) => _disk.TryRenameNew(this, from, to);

    public bool TryLink(string existing, string link) => _disk.TryLink(this, existing, link);

    public void Delete(string path) => _disk.Delete(this, path);

    public void FlushDirectory(string path) => _disk.FlushDirectory(this, path);

    public long FreeBytes(string directory) => _disk.FreeBytes(this, directory);

    public IFileLock? TryLock(string path) => _disk.TryLock(this, path);

    /// <summary>As <see cref="TryLock"/>; null also when the file is not there.</summary>
    /// <exception cref="NotSupportedException">It would have to wait: a simulation polls <see cref="TryLock"/> on virtual time.</exception>
    public IFileLock? WaitForLock(string path, CancellationToken stop) => _disk.LockWithoutWaiting(this, path);

    public override string ToString() => IsAlive ? Id : $"{Id} (dead)";

    internal IEnumerable<Inode> OpenInodes => _open.Select(static file => file.Inode);

    internal SimulatedFile Keep(SimulatedFile file)
    {
        file.Inode.Handles++;
        _open.Add(file);
        return file;
    }

    internal void Forget(SimulatedFile file) => _open.Remove(file);

    internal void Die()
    {
        IsAlive = false;
        foreach (SimulatedFile file in _open.ToList()) file.Dispose();
    }
}
