namespace Ambrosia.Log.Files;

/// <summary>
/// It gives other files, or those of the operating system, without any way to change one. So whoever only reads a log cannot write into
/// it, whatever it does.
/// </summary>
/// <param name="files">The files that are read.</param>
/// <param name="hidden">The names that are not listed; null hides none.</param>
public sealed class ReadOnlyFiles(IFileSystem files, IReadOnlySet<string>? hidden = null) : IFileSystem
{
    public ReadOnlyFiles() : this(new PosixFileSystem()) { }

    public IFile Open(string path, FileUse use) => use != FileUse.ReadWrite ? new ReadOnlyFile(files.Open(path, use)) : throw Refused();

    public bool Exists(string path) => files.Exists(path);

    public IReadOnlyList<string> List(string directory) =>
        hidden is null ? files.List(directory) : [.. files.List(directory).Where(name => !hidden.Contains(name))];

    public long FreeBytes(string directory) => files.FreeBytes(directory);

    public IFile Create(string path) => throw Refused();

    public void CreateDirectory(string path) => throw Refused();

    public void Rename(string from, string to) => throw Refused();

    public bool TryRenameNew(string from, string to) => throw Refused();

    public bool TryLink(string existing, string link) => throw Refused();

    public void Delete(string path) => throw Refused();

    public void FlushDirectory(string path) => throw Refused();

    public IFileLock? TryLock(string path) => throw Refused();

    public IFileLock? WaitForLock(string path, CancellationToken stop) => throw Refused();

    private static InvalidOperationException Refused() => new("these files are only read");

    private sealed class ReadOnlyFile(IFile file) : IFile
    {
        public long Length => file.Length;

        public long BytesTaken => file.BytesTaken;

        public int Read(Span<byte> buffer, long offset) => file.Read(buffer, offset);

        public FileStretch NextData(long offset) => file.NextData(offset);

        public void Write(ReadOnlySpan<byte> bytes, long offset) => throw Refused();

        public void Allocate(long from, long end) => throw Refused();

        public void SetLength(long length) => throw Refused();

        public void Flush() => throw Refused();

        public bool TryLock(FileLockKind kind) => kind == FileLockKind.Shared ? file.TryLock(kind) : throw Refused();

        public void Unlock() => file.Unlock();

        public void ExpectReads(long offset, long bytes) => file.ExpectReads(offset, bytes);

        public void DropCache() => file.DropCache();

        public void Dispose() => file.Dispose();
    }
}
