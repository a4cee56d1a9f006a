using Ambrosia.Coordinator.Replica;
using Ambrosia.Log.Files;

namespace Ambrosia.Coordinator.Hosting;

/// <summary>
/// Passes everything on but flushes, which do nothing: a measurement compares durable figures with it, and nothing else may use it. A log
/// on it does not survive the machine, and says so at every start (<see cref="CoordinatorOptions.UnsafeNoFlush"/>).
/// </summary>
internal sealed class UnflushedFiles(IFileSystem files) : IFileSystem
{
    public IFile Open(string path, FileUse use) => new UnflushedFile(files.Open(path, use));

    public IFile Create(string path) => new UnflushedFile(files.Create(path));

    public bool Exists(string path) => files.Exists(path);

    public IReadOnlyList<string> List(string directory) => files.List(directory);

    public void CreateDirectory(string path) => files.CreateDirectory(path);

    public void Rename(string from, string to) => files.Rename(from, to);

    public bool TryRenameNew(string from, string to) => files.TryRenameNew(from, to);

    public bool TryLink(string existing, string link) => files.TryLink(existing, link);

    public void Delete(string path) => files.Delete(path);

    public void FlushDirectory(string path)
    {
    }

    public long FreeBytes(string directory) => files.FreeBytes(directory);

    public IFileLock? TryLock(string path) => files.TryLock(path);

    public IFileLock? WaitForLock(string path, CancellationToken stop) => files.WaitForLock(path, stop);

    private sealed class UnflushedFile(IFile file) : IFile
    {
        public long Length => file.Length;

        public long BytesTaken => file.BytesTaken;

        public int Read(Span<byte> buffer, long offset) => file.Read(buffer, offset);

        public FileStretch NextData(long offset) => file.NextData(offset);

        public void Write(ReadOnlySpan<byte> bytes, long offset) => file.Write(bytes, offset);

        public void Write(ReadOnlySpan<ReadOnlyMemory<byte>> parts, long offset) => file.Write(parts, offset);

        public bool TryWriteDirect() => file.TryWriteDirect();

        public bool TryLock(FileLockKind kind) => file.TryLock(kind);

        public void Unlock() => file.Unlock();

        public void Allocate(long from, long end) => file.Allocate(from, end);

        public void SetLength(long length) => file.SetLength(length);

        public void Flush()
        {
        }

        public void ExpectReads(long offset, long bytes) => file.ExpectReads(offset, bytes);

        public void DropCache() => file.DropCache();

        public void Dispose() => file.Dispose();
    }
}
