using Ambrosia.Log.Files;

namespace Ambrosia.Coordinator.Hosting;

/// <summary>
/// The files of a view: those of a log, which it can only read, and in front of them those that the view makes itself, which lie in a
/// directory of its own under the same names. So nothing in the log's directory is ever made, changed, renamed or removed, whichever part
/// of a coordinator runs on it.
/// </summary>
/// <param name="log">The log's directory.</param>
/// <param name="own">The view's directory, which is there.</param>
internal sealed class ViewFiles(IFileSystem files, string log, string own) : IFileSystem
{
    public IFile Open(string path, FileUse use)
    {
        if (OwnOf(path) is not { } mine) return files.Open(path, use);
        if (files.Exists(mine)) return files.Open(mine, use);
        return use != FileUse.ReadWrite ? files.Open(path, use) : throw new FileNotFoundException("a view has made no such file", path);
    }

    public IFile Create(string path)
    {
        string mine = OwnOf(path) ?? path;
        files.CreateDirectory(Path.GetDirectoryName(mine)!);
        return files.Create(mine);
    }

    public bool Exists(string path) => files.Exists(path) || (OwnOf(path) is { } mine && files.Exists(mine));

    public IReadOnlyList<string> List(string directory) => files.List(directory);

    public void CreateDirectory(string path) => files.CreateDirectory(OwnOf(path) ?? path);

    public void Rename(string from, string to) => files.Rename(OwnOf(from) ?? from, OwnOf(to) ?? to);

    public bool TryRenameNew(string from, string to) => files.TryRenameNew(OwnOf(from) ?? from, OwnOf(to) ?? to);

    public bool TryLink(string existing, string link) => files.TryLink(OwnOf(existing) ?? existing, OwnOf(link) ?? link);

    public void Delete(string path) => files.Delete(OwnOf(path) ?? path);

    public void FlushDirectory(string path) { } // nothing of a view outlives it

    public long FreeBytes(string directory) => files.FreeBytes(own);

    public IFileLock? TryLock(string path) => files.TryLock(OwnOf(path) ?? path);

    public IFileLock? WaitForLock(string path, CancellationToken stop) => throw new InvalidOperationException("a view waits for no lock");

    /// <summary>Returns where the view's own file of this name lies; null: the path is not in the log's directory.</summary>
    private string? OwnOf(string path)
    {
        if (path == log) return own;
        return path.StartsWith(log, StringComparison.Ordinal) && path[log.Length] == Path.DirectorySeparatorChar
            ? Path.Combine(own, path[(log.Length + 1)..]) : null;
    }
}
