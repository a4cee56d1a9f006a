namespace Ambrosia.Log.Tests;

/// <summary>Plants a bug: a program that leaves out the flushes of some files, or of directories.</summary>
internal sealed class FlushlessFiles(IFileSystem files, Func<string, bool> leavesOut) : IFileSystem
{
    /// <summary>What <c>leavesOut</c> is asked about a directory's flush.</summary>
    public const string Directory = "directory";

    public IFile Open(string path, FileUse use) => new File(files.Open(path, use), leavesOut(Path.GetFileName(path)));

    public IFile Create(string path) => new File(files.Create(path), leavesOut(Path.GetFileName(path)));

    public bool Exists(string path) => files.Exists(path);

    public IReadOnlyList<string> List(string directory) => files.List(directory);

    public void CreateDirectory(string path) => files.CreateDirectory(path);

    public void Rename(string from, string to) => files.Rename(from, to);

    public bool TryRenameNew(string from, string to) => files.TryRenameNew(from, to);

    public bool TryLink(string existing, string link) => files.TryLink(existing, link);

    public void Delete(string path) => files.Delete(path);

    public void FlushDirectory(string path)
    {
        if (!leavesOut(Directory)) files.FlushDirectory(path);
    }

    public long FreeBytes(string directory) => files.FreeBytes(directory);

    public IFileLock? TryLock(string path) => files.TryLock(path);

    public IFileLock? WaitForLock(string path, CancellationToken stop) => files.WaitForLock(path, stop);

    private sealed class File(IFile file, bool isFlushless) : IFile
    {
        public long Length => file.Length;

        public int Read(Span<byte> buffer, long offset) => file.Read(buffer, offset);

        public void Write(ReadOnlySpan<byte> bytes, long offset) => file.Write(bytes, offset);

        public void Allocate(long length) => file.Allocate(length);

        public void SetLength(long length) => file.SetLength(length);

        public void Flush()
        {
            if (!isFlushless) file.Flush();
        }

        public bool TryLock(FileLockKind kind) => file.TryLock(kind);

        public void Unlock() => file.Unlock();

        public void DropCache() => file.DropCache();

        public void Dispose() => file.Dispose();
    }
}
