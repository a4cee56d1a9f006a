using Ambrosia.Log.Files;

namespace Ambrosia.Simulation;

/// <summary>Files that pass everything on: what a wrapper overrides is what it is about.</summary>
internal abstract class WrappedFiles(IFileSystem files) : IFileSystem
{
    protected abstract IFile Wrap(string path, IFile file);

    public virtual IFile Open(string path, FileUse use) => Wrap(path, files.Open(path, use));

    public virtual IFile Create(string path) => Wrap(path, files.Create(path));

    public virtual bool Exists(string path) => files.Exists(path);

    public IReadOnlyList<string> List(string directory) => files.List(directory);

    public void CreateDirectory(string path) => files.CreateDirectory(path);

    public virtual void Rename(string from, string to) => files.Rename(from, to);

    public virtual bool TryRenameNew(string from, string to) => files.TryRenameNew(from, to);

    public bool TryLink(string existing, string link) => files.TryLink(existing, link);

    public void Delete(string path) => files.Delete(path);

    public virtual void FlushDirectory(string path) => files.FlushDirectory(path);

    public long FreeBytes(string directory) => files.FreeBytes(directory);

    public IFileLock? TryLock(string path) => files.TryLock(path);

    public IFileLock? WaitForLock(string path, CancellationToken stop) => files.WaitForLock(path, stop);
}

/// <summary>One file that passes everything on.</summary>
internal class WrappedFile(IFile file) : IFile
{
    public long Length => file.Length;

    public long BytesTaken => file.BytesTaken;

    public virtual int Read(Span<byte> buffer, long offset) => file.Read(buffer, offset);

    public FileStretch NextData(long offset) => file.NextData(offset);

    public virtual void Write(ReadOnlySpan<byte> bytes, long offset) => file.Write(bytes, offset);

    public void Allocate(long from, long end) => file.Allocate(from, end);

    public void SetLength(long length) => file.SetLength(length);

    public virtual void Flush() => file.Flush();

    public bool TryLock(FileLockKind kind) => file.TryLock(kind);

    public void Unlock() => file.Unlock();

    public void DropCache() => file.DropCache();

    public void Dispose() => file.Dispose();
}
