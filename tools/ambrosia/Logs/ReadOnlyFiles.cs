using Ambrosia.Log;

namespace Ambrosia.Tools;

/// <summary>The files of the operating system without any way to change one: what makes "it never writes" true by construction.</summary>
/// <param name="files">What is read.</param>
/// <param name="hidden">Names that are not listed; null: none.</param>
internal sealed class ReadOnlyFiles(IFileSystem files, IReadOnlySet<string>? hidden = null) : IFileSystem
{
    public ReadOnlyFiles() : this(new PosixFileSystem()) { }

    public IFile Open(string path, FileUse use) => use == FileUse.Read ? new ReadOnlyFile(files.Open(path, use)) : throw Refused();

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

    private static InvalidOperationException Refused() => new("the tool only reads");

    private sealed class ReadOnlyFile(IFile file) : IFile
    {
        public long Length => file.Length;

        public int Read(Span<byte> buffer, long offset) => file.Read(buffer, offset);

        public void Write(ReadOnlySpan<byte> bytes, long offset) => throw Refused();

        public void Allocate(long length) => throw Refused();

        public void SetLength(long length) => throw Refused();

        public void Flush() => throw Refused();

        public bool TryLock(FileLockKind kind) => kind == FileLockKind.Shared ? file.TryLock(kind) : throw Refused();

        public void Unlock() => file.Unlock();

        public void DropCache() => file.DropCache();

        public void Dispose() => file.Dispose();
    }
}
