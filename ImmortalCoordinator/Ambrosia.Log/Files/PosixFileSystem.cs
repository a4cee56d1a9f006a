using Ambrosia.Protocol.Locking;

namespace Ambrosia.Log.Files;

/// <summary>
/// The files of the operating system; Linux only. Child processes never inherit descriptors, so that a lock ends with its process. Any
/// thread.
/// </summary>
public sealed unsafe class PosixFileSystem : IFileSystem
{
    private const int LockStackBytes = 64 * 1024;

    private readonly SystemCalls _calls;

    /// <exception cref="PlatformNotSupportedException">The operating system is not Linux.</exception>
    public PosixFileSystem() : this(SystemCalls.Real) { }

    internal PosixFileSystem(SystemCalls calls)
    {
        _calls = calls;
        if (!OperatingSystem.IsLinux()) throw new PlatformNotSupportedException("the log's files need Linux: flock, renameat2, fdatasync");
    }

    public IFile Open(string path, FileUse use)
    {
        PosixFile file = PosixFile.Open(path, use == FileUse.ReadWrite ? Libc.ReadWrite : Libc.ReadOnly, _calls);
        if (use == FileUse.ReadPages) file.ReadNothingAhead();
        return file;
    }

    public IFile Create(string path) => PosixFile.Open(path, Libc.ReadWrite | Libc.CreateFlag | Libc.ExclusiveFlag, _calls);

    public bool Exists(string path)
    {
        Libc.FileStatus status;
        if (Libc.StatX(Libc.CurrentDirectory, path, Libc.ForceSync, Libc.InodeMask, &status) == 0) return true;
        int errno = PosixError.Last;
        return errno == Libc.NotThere ? false : throw PosixError.Of("look-up of", path, errno);
    }

    public IReadOnlyList<string> List(string directory)
    {
        try
        {
            var names = new List<string>();
            foreach (string path in Directory.EnumerateFileSystemEntries(directory)) names.Add(Path.GetFileName(path));
            names.Sort(StringComparer.Ordinal);
            return names;
        }
        catch (DirectoryNotFoundException)
        {
            return [];
        }
        catch (UnauthorizedAccessException)
        {
            throw PosixError.Of("listing of", directory, Libc.AccessDenied);
        }
    }

    public void CreateDirectory(string path)
    {
        try
        {
            Directory.CreateDirectory(path, UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.UserExecute);
        }
        catch (UnauthorizedAccessException)
        {
            throw PosixError.Of("making of", path, Libc.AccessDenied);
        }
    }

    public void Rename(string from, string to)
    {
        if (Libc.Rename(from, to) < 0) throw PosixError.Of($"rename to {to} of", from);
    }

    public bool TryRenameNew(string from, string to)
    {
        if (Libc.RenameAt2(Libc.CurrentDirectory, from, Libc.CurrentDirectory, to, Libc.NoReplace) == 0) return true;
        int errno = PosixError.Last;
        if (errno == Libc.Exists) return false;
        if (errno is not (Libc.Invalid or Libc.NotImplemented or Libc.NotSupported)) throw PosixError.Of($"rename to {to} of", from, errno);
        if (!TryLink(from, to)) return false; // a file system without RENAME_NOREPLACE
        Delete(from);
        return true;
    }

    public bool TryLink(string existing, string link)
    {
        if (Libc.Link(existing, link) == 0) return true;
        int errno = PosixError.Last;
        return errno == Libc.Exists ? false : throw PosixError.Of($"link {link} to", existing, errno);
    }

    public void Delete(string path)
    {
        if (Libc.Unlink(path) < 0 && PosixError.Last != Libc.NotThere) throw PosixError.Of("removal of", path);
    }

    public void FlushDirectory(string path)
    {
        using PosixFile directory = PosixFile.Open(path, Libc.ReadOnly, _calls);
        directory.FlushNames();
    }

    public long FreeBytes(string directory)
    {
        Libc.FileSystemStatus status;
        if (Libc.StatVfs(directory, &status) < 0) throw PosixError.Of("free space of", directory);
        return checked((long)(status.FragmentBytes * status.FragmentsAvailable));
    }

    public IFileLock? TryLock(string path)
    {
        PosixFile file = PosixFile.Open(path, Libc.ReadWrite | Libc.CreateFlag, _calls);
        if (file.TryLock(FileLockKind.Exclusive)) return new PosixLock(path, file);
        file.Dispose();
        return null;
    }

    public IFileLock? WaitForLock(string path, CancellationToken stop)
    {
        PosixFile file;
        try
        {
            file = PosixFile.Open(path, Libc.ReadWrite, _calls);
        }
        catch (FileNotFoundException)
        {
            return null;
        }
        WaitForLock(file, path, stop);
        var held = new PosixLock(path, file);
        if (held.IsStillNamed) return held;
        held.Dispose();
        return null;
    }

    /// <summary>
    /// Waits in the kernel, so that the lock is ours a millisecond after its owner's death. Nothing interrupts such a wait. A caller that
    /// is told to stop leaves the wait to its thread, which gives the lock back if it ever comes.
    /// </summary>
    private static void WaitForLock(PosixFile file, string path, CancellationToken stop)
    {
        var answer = new TaskCompletionSource<int>(TaskCreationOptions.RunContinuationsAsynchronously);
        var waiter = new Thread(() =>
        {
            int errno;
            do errno = Libc.FLock(file.Descriptor, Libc.LockExclusive) == 0 ? 0 : PosixError.Last;
            while (errno == Libc.Interrupted);
            if (!answer.TrySetResult(errno)) file.Dispose();
        }, LockStackBytes) { IsBackground = true, Name = "wait for lock" };
        try
        {
            waiter.Start();
        }
        catch (Exception e) when (e is OutOfMemoryException or ThreadStartException)
        {
            file.Dispose();
            throw PosixError.Of("thread to wait for the lock of", path, Libc.WouldBlock); // as clone says it: not now
        }
        using (stop.UnsafeRegister(_ => answer.TrySetCanceled(stop), null))
        {
            LockChecks.BeforeWait();
            int errno = answer.Task.GetAwaiter().GetResult();
            if (errno == 0) return;
            file.Dispose();
            throw PosixError.Of("lock of", path, errno);
        }
    }
}

/// <summary>Holds a <c>flock</c>. It ends when the descriptor is closed, by us or by the kernel.</summary>
internal sealed unsafe class PosixLock(string path, PosixFile file) : IFileLock
{
    public IFile File => file;

    public bool IsStillNamed
    {
        get
        {
            Libc.FileStatus status;
            if (Libc.StatX(Libc.CurrentDirectory, path, Libc.ForceSync, Libc.InodeMask, &status) < 0)
                return PosixError.Last == Libc.NotThere ? false : throw PosixError.Of("stat", path);
            return file.Identity() == (((ulong)status.DeviceMajor << 32) | status.DeviceMinor, status.Inode);
        }
    }

    public void Dispose() => file.Dispose();
}
