using Ambrosia.Log.Files;

namespace Ambrosia.Log.Tests;

/// <summary>
/// Files in memory, for tests that recover a log thousands of times. It loses nothing and fails never; <see cref="Copy"/> is a snapshot.
/// Locks belong to the object that took them, so two "processes" are two callers. One lock guards everything.
/// </summary>
internal sealed class MemoryFileSystem : IFileSystem
{
    private readonly Lock _sync = new();
    private readonly Dictionary<string, MemoryFile.Inode> _names = new(StringComparer.Ordinal);

    public MemoryFileSystem Copy()
    {
        var copy = new MemoryFileSystem();
        lock (_sync)
            foreach ((string path, MemoryFile.Inode inode) in _names) copy._names.Add(path, inode.Copy());
        return copy;
    }

    /// <summary>Frees all locks, as the kernel does when processes die.</summary>
    public void FreeLocks()
    {
        lock (_sync)
            foreach (MemoryFile.Inode inode in _names.Values)
            {
                inode.IsLocked = false;
                inode.Holders.Clear();
            }
    }

    public byte[] Content(string path)
    {
        lock (_sync) return _names[path].Content.ToArray();
    }

    /// <summary>Bytes that were set aside for the file.</summary>
    public long Allocated(string path)
    {
        lock (_sync) return _names[path].Allocated;
    }

    /// <summary>Something was written to the file below this: what lies behind is a hole.</summary>
    public long WrittenTo(string path)
    {
        lock (_sync) return _names[path].WrittenTo;
    }

    public void SetContent(string path, ReadOnlySpan<byte> content)
    {
        lock (_sync)
        {
            _names[path].Content = content.ToArray();
            _names[path].WrittenTo = content.Length;
        }
    }

    public IFile Open(string path, FileUse use) => new MemoryFile(Find(path), _sync);

    public IFile Create(string path)
    {
        lock (_sync)
        {
            if (!_names.TryAdd(path, new MemoryFile.Inode())) throw new FileExistsException(path);
            return new MemoryFile(_names[path], _sync);
        }
    }

    public bool Exists(string path)
    {
        lock (_sync) return _names.ContainsKey(path);
    }

    public IReadOnlyList<string> List(string directory)
    {
        lock (_sync)
            return [
                .. _names.Keys.Where(p => Path.GetDirectoryName(p) == directory).Select(p => Path.GetFileName(p))
                    .Order(StringComparer.Ordinal)];
    }

    public void CreateDirectory(string path)
    {
    }

    public void Rename(string from, string to)
    {
        lock (_sync)
        {
            MemoryFile.Inode inode = Find(from);
            _names.Remove(from);
            _names[to] = inode;
        }
    }

    public bool TryRenameNew(string from, string to)
    {
        lock (_sync)
        {
            Find(from);
            if (_names.ContainsKey(to)) return false;
            Rename(from, to);
            return true;
        }
    }

    public bool TryLink(string existing, string link)
    {
        lock (_sync) return _names.TryAdd(link, Find(existing));
    }

    public void Delete(string path)
    {
        lock (_sync) _names.Remove(path);
    }

    public void FlushDirectory(string path)
    {
    }

    public long FreeBytes(string directory) => long.MaxValue;

    public IFileLock? TryLock(string path)
    {
        lock (_sync)
        {
            if (!_names.TryGetValue(path, out MemoryFile.Inode? inode)) _names.Add(path, inode = new MemoryFile.Inode());
            if (inode.IsLocked || inode.Holders.Count > 0) return null;
            inode.IsLocked = true;
            return new HeldLock(this, path, inode);
        }
    }

    public IFileLock? WaitForLock(string path, CancellationToken stop) => throw new NotSupportedException("nothing waits in memory");

    private MemoryFile.Inode Find(string path)
    {
        lock (_sync) return _names.TryGetValue(path, out MemoryFile.Inode? inode) ? inode : throw new FileNotFoundException(path);
    }

    private sealed class HeldLock(MemoryFileSystem fs, string path, MemoryFile.Inode inode) : IFileLock
    {
        public IFile File { get; } = new MemoryFile(inode, fs._sync);

        public bool IsStillNamed
        {
            get
            {
                lock (fs._sync) return fs._names.TryGetValue(path, out MemoryFile.Inode? now) && now == inode;
            }
        }

        public void Dispose() => inode.IsLocked = false;
    }
}
