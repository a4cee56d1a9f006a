using Ambrosia.Log.Files;

namespace Ambrosia.Tools.Tests;

/// <summary>Real files that call a hook before each operation of a reader.</summary>
internal sealed class HookedFiles(IFileSystem files) : IFileSystem
{
    /// <summary>Gets the number of the operation, from 1.</summary>
    public Action<int> Before { get; set; } = static _ => { };

    public int Operations { get; private set; }

    public long BytesRead { get; private set; }

    public IFile Open(string path, FileUse use) => Do(() => new File(this, files.Open(path, use)));

    public bool Exists(string path) => Do(() => files.Exists(path));

    public IReadOnlyList<string> List(string directory) => Do(() => files.List(directory));

    public long FreeBytes(string directory) => Do(() => files.FreeBytes(directory));

    public IFile Create(string path) => throw new NotSupportedException();

    public void CreateDirectory(string path) => throw new NotSupportedException();

    public void Rename(string from, string to) => throw new NotSupportedException();

    public bool TryRenameNew(string from, string to) => throw new NotSupportedException();

    public bool TryLink(string existing, string link) => throw new NotSupportedException();

    public void Delete(string path) => throw new NotSupportedException();

    public void FlushDirectory(string path) => throw new NotSupportedException();

    public IFileLock? TryLock(string path) => throw new NotSupportedException();

    public IFileLock? WaitForLock(string path, CancellationToken stop) => throw new NotSupportedException();

    private T Do<T>(Func<T> operation)
    {
        Before(++Operations);
        return operation();
    }

    private sealed class File(HookedFiles hooked, IFile file) : IFile
    {
        public long Length => file.Length;

        public long BytesTaken => file.BytesTaken;

        public int Read(Span<byte> buffer, long offset)
        {
            hooked.Before(++hooked.Operations);
            int count = file.Read(buffer, offset);
            hooked.BytesRead += count;
            return count;
        }

        public FileStretch NextData(long offset) => file.NextData(offset);

        public void Write(ReadOnlySpan<byte> bytes, long offset) => throw new NotSupportedException();

        public void Allocate(long from, long end) => throw new NotSupportedException();

        public void SetLength(long length) => throw new NotSupportedException();

        public void Flush() => throw new NotSupportedException();

        public bool TryLock(FileLockKind kind) => hooked.Do(() => file.TryLock(kind));

        public void Unlock() => file.Unlock();

        public void DropCache() => file.DropCache();

        public void Dispose() => file.Dispose();
    }
}
