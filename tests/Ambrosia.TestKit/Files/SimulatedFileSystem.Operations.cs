using Ambrosia.Log.Files;

namespace Ambrosia.TestKit;

/// <summary>The operations, on behalf of a process. Each is announced, then fails if it is told to, then happens.</summary>
public sealed partial class SimulatedFileSystem
{
    internal IFile Open(SimulatedProcess process, string path, FileUse use)
    {
        lock (Gate)
        {
            Begin(process, FileOperationKind.Open, ref path);
            CheckDescriptors(process, FileOperationKind.Open, path);
            Inode inode = _names.Visible.Find(path) ?? throw new FileNotFoundException($"{path} is not there", path);
            return process.Keep(new SimulatedFile(this, process, inode, path, use));
        }
    }

    internal IFile Create(SimulatedProcess process, string path)
    {
        lock (Gate)
        {
            Begin(process, FileOperationKind.Create, ref path);
            CheckDescriptors(process, FileOperationKind.Create, path);
            CheckParent(path);
            if (IsTaken(path)) throw new FileExistsException(path);
            return process.Keep(new SimulatedFile(this, process, NewFile(path), path, FileUse.ReadWrite));
        }
    }

    internal bool Exists(SimulatedProcess process, string path)
    {
        lock (Gate)
        {
            Begin(process, FileOperationKind.Exists, ref path);
            return IsTaken(path);
        }
    }

    internal IReadOnlyList<string> List(SimulatedProcess process, string directory)
    {
        lock (Gate)
        {
            Begin(process, FileOperationKind.List, ref directory);
            return _names.Visible.HasDirectory(directory) ? WithGhosts(directory, _names.Visible.List(directory)) : [];
        }
    }

    internal void CreateDirectory(SimulatedProcess process, string path)
    {
        lock (Gate)
        {
            Begin(process, FileOperationKind.CreateDirectory, ref path);
            if (_names.Visible.Find(path) is not null) throw new IOException($"{path} is a file");
            AddDirectories(path);
        }
    }

    internal void Rename(SimulatedProcess process, string from, string to)
    {
        lock (Gate)
        {
            to = Normal(to);
            Begin(process, FileOperationKind.Rename, ref from);
            Inode inode = _names.Visible.Find(from) ?? throw new FileNotFoundException($"{from} is not there", from);
            CheckParent(to);
            if (_names.Visible.HasDirectory(to)) throw new IOException($"{to} is a directory");
            // As POSIX has it: two names of one file, and nothing happens.
            if (_names.Visible.Find(to) != inode) _names.Do(new NameOperation.Move(from, to, inode, Replace: true));
        }
    }

    internal bool TryRenameNew(SimulatedProcess process, string from, string to)
    {
        lock (Gate)
        {
            to = Normal(to);
            Begin(process, FileOperationKind.RenameNew, ref from);
            Inode inode = _names.Visible.Find(from) ?? throw new FileNotFoundException($"{from} is not there", from);
            CheckParent(to);
            if (IsTaken(to)) return false;
            _names.Do(new NameOperation.Move(from, to, inode, Replace: false));
            return true;
        }
    }

    internal bool TryLink(SimulatedProcess process, string existing, string link)
    {
        lock (Gate)
        {
            link = Normal(link);
            Begin(process, FileOperationKind.Link, ref existing);
            Inode inode = _names.Visible.Find(existing) ?? throw new FileNotFoundException($"{existing} is not there", existing);
            CheckParent(link);
            if (IsTaken(link)) return false;
            _names.Do(new NameOperation.Add(link, inode));
            return true;
        }
    }

    internal void Delete(SimulatedProcess process, string path)
    {
        lock (Gate)
        {
            Begin(process, FileOperationKind.Delete, ref path);
            if (_names.Visible.HasDirectory(path)) throw new IOException($"{path} is a directory");
            _ghosts.Remove(path);
            if (_names.Visible.Find(path) is { } inode) _names.Do(new NameOperation.Remove(path, inode));
        }
    }

    internal void FlushDirectory(SimulatedProcess process, string path)
    {
        lock (Gate)
        {
            path = Normal(path);
            FileOperation operation = Announce(process, FileOperationKind.FlushDirectory, path, 0, 0);
            if (Faults.Of(operation) is { } fault)
            {
                _names.FailFlush(path, Random);
                throw new SimulatedIOException(fault, operation);
            }

            if (!_names.Visible.HasDirectory(path)) throw new DirectoryNotFoundException($"{path} is not there");
            _names.Flush(path);
        }
    }

    internal long FreeBytes(SimulatedProcess process, string directory)
    {
        lock (Gate)
        {
            Begin(process, FileOperationKind.FreeBytes, ref directory);
            return Math.Max(0, CapacityBytes - BytesTaken());
        }
    }

    internal IFileLock? TryLock(SimulatedProcess process, string path)
    {
        lock (Gate)
        {
            Begin(process, FileOperationKind.Lock, ref path);
            CheckDescriptors(process, FileOperationKind.Lock, path);
            CheckParent(path);
            Inode inode = _names.Visible.Find(path) ?? NewFile(path);
            var file = new SimulatedFile(this, process, inode, path, FileUse.ReadWrite);
            return inode.TryLock(file, FileLockKind.Exclusive) ? new SimulatedFileLock(this, process.Keep(file), path) : null;
        }
    }

    internal IFileLock? LockWithoutWaiting(SimulatedProcess process, string path)
    {
        lock (Gate)
        {
            if (_names.Visible.Find(Normal(path)) is null) return null;
            return TryLock(process, path) ?? throw new NotSupportedException($"waiting for the lock of {path} would stop the simulation");
        }
    }

    internal bool IsNamed(SimulatedFile file, string path)
    {
        lock (Gate) return file.Process.IsAlive && _names.Visible.Find(path) == file.Inode;
    }

    /// <summary>Numbers the operation and shows it to the hook; a crash that the hook throws kills the process first.</summary>
    internal FileOperation Announce(SimulatedProcess process, FileOperationKind kind, string path, long offset, long bytes)
    {
        if (!process.IsAlive) throw new SimulatedCrash($"{process.Id} is dead");
        var operation = new FileOperation(++_operations, process.Id, kind, path, offset, bytes);
        try
        {
            BeforeOperation?.Invoke(operation);
        }
        catch (SimulatedCrash)
        {
            Kill(process);
            throw;
        }

        // The hook may have killed it in another way, such as a power loss.
        return process.IsAlive ? operation : throw new SimulatedCrash($"{process.Id} died before {operation}");
    }

    /// <summary>The fault that an operation which takes space is to report: an injected one, or a full device.</summary>
    internal FileFault? FaultOf(FileOperation operation, long more)
    {
        if (Faults.Of(operation) is { } fault) return fault;
        return more > 0 && BytesTaken() + more > CapacityBytes ? FileFault.NoSpace : null;
    }

    private static string Normal(string path)
    {
        if (!Path.IsPathFullyQualified(path)) throw new ArgumentException($"paths are absolute: {path}", nameof(path));
        return Path.TrimEndingDirectorySeparator(Path.GetFullPath(path));
    }

    /// <summary>Announces an operation that takes effect wholly or, failing, not at all.</summary>
    private void Begin(SimulatedProcess process, FileOperationKind kind, ref string path)
    {
        path = Normal(path);
        FileOperation operation = Announce(process, kind, path, 0, 0);
        if (Faults.Of(operation) is { } fault) throw new SimulatedIOException(fault, operation);
    }

    private Inode NewFile(string path)
    {
        var inode = new Inode(++_inodes);
        _names.Do(new NameOperation.Add(path, inode));
        return inode;
    }

    private void AddDirectories(string path)
    {
        Stack<string> missing = new();
        for (string at = path; !_names.Visible.HasDirectory(at); at = NameImage.ParentOf(at)) missing.Push(at);
        foreach (string directory in missing) _names.Do(new NameOperation.AddDirectory(directory));
    }

    private bool IsTaken(string path) => _names.Visible.Find(path) is not null || _names.Visible.HasDirectory(path);

    private void CheckParent(string path)
    {
        string parent = NameImage.ParentOf(path);
        if (!_names.Visible.HasDirectory(parent)) throw new DirectoryNotFoundException($"{parent} is not there");
    }

    private long BytesTaken() => _names.Visible.Files().Select(static file => file.Inode)
        .Union(_processes.Values.SelectMany(static process => process.OpenInodes))
        .Sum(static inode => inode.BytesTaken);
}
