using Ambrosia.Log.Files;

namespace Ambrosia.Log.Tests;

/// <summary>Passes everything on to other files, with hooks where a test wants something to happen in between, or not to happen.</summary>
internal sealed class InterceptedFiles(IFileSystem files) : IFileSystem
{
    /// <summary><see cref="LeavesOutFlush"/> is asked with this name about a directory's flush.</summary>
    public const string Directory = "directory";

    /// <summary>Plants a bug: the flushes of files with such names are left out.</summary>
    public Func<string, bool> LeavesOutFlush { get; init; } = static _ => false;

    /// <summary>Called before each read with its offset and size.</summary>
    public Action<long, int> BeforeRead { get; set; } = static (_, _) => { };

    /// <summary>Called with path, offset and bytes of what is said to be read soon.</summary>
    public Action<string, long, long> ExpectsReads { get; set; } = static (_, _, _) => { };

    /// <summary>Called after each lock that was had.</summary>
    public Action AfterLock { get; init; } = static () => { };

    /// <summary>Each link fails with this error.</summary>
    public int? LinkError { get; init; }

    /// <summary>Says by the path whether a file is used past the cache from now on.</summary>
    public Func<string, bool> GoesPastCache { get; init; } = static _ => false;

    public IFile Open(string path, FileUse use) => new File(this, files.Open(path, use), path);

    public IFile Create(string path) => new File(this, files.Create(path), path);

    public bool Exists(string path) => files.Exists(path);

    public IReadOnlyList<string> List(string directory) => files.List(directory);

    public void CreateDirectory(string path) => files.CreateDirectory(path);

    public void Rename(string from, string to) => files.Rename(from, to);

    public bool TryRenameNew(string from, string to) => files.TryRenameNew(from, to);

    public bool TryLink(string existing, string link) =>
        LinkError is { } error ? throw new IOException("no links", error) : files.TryLink(existing, link);

    public void Delete(string path) => files.Delete(path);

    public void FlushDirectory(string path)
    {
        if (!LeavesOutFlush(Directory)) files.FlushDirectory(path);
    }

    public long FreeBytes(string directory) => files.FreeBytes(directory);

    public IFileLock? TryLock(string path)
    {
        IFileLock? held = files.TryLock(path);
        if (held is not null) AfterLock();
        return held;
    }

    public IFileLock? WaitForLock(string path, CancellationToken stop) => files.WaitForLock(path, stop);

    private sealed class File(InterceptedFiles watched, IFile file, string path) : IFile
    {
        public long Length => file.Length;

        public long BytesTaken => file.BytesTaken;

        public int Read(Span<byte> buffer, long offset)
        {
            watched.BeforeRead(offset, buffer.Length);
            return file.Read(buffer, offset);
        }

        public FileStretch NextData(long offset) => file.NextData(offset);

        public void Write(ReadOnlySpan<byte> bytes, long offset) => file.Write(bytes, offset);

        public void Allocate(long from, long end) => file.Allocate(from, end);

        public bool TryWriteDirect() => watched.GoesPastCache(path);

        public void SetLength(long length) => file.SetLength(length);

        public void Flush()
        {
            if (!watched.LeavesOutFlush(Path.GetFileName(path))) file.Flush();
        }

        public bool TryLock(FileLockKind kind)
        {
            bool isHeld = file.TryLock(kind);
            if (isHeld) watched.AfterLock();
            return isHeld;
        }

        public void Unlock() => file.Unlock();

        public void ExpectReads(long offset, long bytes) => watched.ExpectsReads(path, offset, bytes);

        public void DropCache() => file.DropCache();

        public void Dispose() => file.Dispose();
    }
}
