using Ambrosia.Log.Files;

namespace Ambrosia.Log.Tests;

/// <summary>
/// One file whose content a test changes in place, for a reader of one thread; nothing is copied and nothing is made for each case.
/// </summary>
internal sealed class ImageFiles(string path, byte[] bytes) : IFileSystem, IFile
{
    private readonly string[] _names = [System.IO.Path.GetFileName(path)];

    /// <summary>The file ends here.</summary>
    public long Length { get; set; } = bytes.Length;

    public IFile Open(string name, FileUse use) => use != FileUse.ReadWrite && name == path ? this : throw new FileNotFoundException(name);

    public IReadOnlyList<string> List(string directory) => _names;

    public int Read(Span<byte> buffer, long offset)
    {
        int count = (int)Math.Clamp(Length - offset, 0, buffer.Length);
        bytes.AsSpan((int)Math.Min(offset, Length), count).CopyTo(buffer);
        return count;
    }

    public bool TryLock(FileLockKind kind) => kind == FileLockKind.Shared;

    public void Unlock()
    {
    }

    public void DropCache()
    {
    }

    public void Dispose()
    {
    }

    public bool Exists(string name) => name == path;

    public void Write(ReadOnlySpan<byte> content, long offset) => throw Refused();
    public void Allocate(long from, long end) => throw Refused();
    public void SetLength(long length) => throw Refused();
    public void Flush() => throw Refused();
    public IFile Create(string name) => throw Refused();
    public void CreateDirectory(string name) => throw Refused();
    public void Rename(string from, string to) => throw Refused();
    public bool TryRenameNew(string from, string to) => throw Refused();
    public bool TryLink(string existing, string link) => throw Refused();
    public void Delete(string name) => throw Refused();
    public void FlushDirectory(string name) => throw Refused();
    public long FreeBytes(string directory) => throw Refused();
    public IFileLock? TryLock(string name) => throw Refused();
    public IFileLock? WaitForLock(string name, CancellationToken stop) => throw Refused();

    private static InvalidOperationException Refused() => new("a reader writes nothing");
}
