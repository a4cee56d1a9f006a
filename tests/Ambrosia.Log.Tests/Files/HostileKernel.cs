using System.Runtime.InteropServices;
using Ambrosia.Log.Files;

namespace Ambrosia.Log.Tests;

/// <summary>
/// The real kernel for one process, with the faults that belong to a file, an opening or the process, and last: locks as NFS has them,
/// sectors that cannot be read, write-back that failed, descriptors that run out. Any thread.
/// </summary>
internal unsafe class HostileKernel : SystemCalls
{
    private const int Eio = 5, Ebadf = 9, Emfile = 24, AccessMode = 3;

    private readonly Lock _gate = new();
    private readonly Dictionary<int, Opening> _open = []; // by descriptor; guarded by the lock

    /// <summary>An exclusive lock wants an opening that may write, as flock(2) says of NFS.</summary>
    public bool LocksNeedWriting { get; init; }

    /// <summary>Says by its path, and for good, that nothing of a file can be read.</summary>
    public Func<string, bool> IsUnreadable { get; set; } = static _ => false;

    /// <summary>So many files can be open at once.</summary>
    public int OpenMax { get; set; } = int.MaxValue;

    /// <summary>Called before each fdatasync with the path of the file as it is called now.</summary>
    public Action<string> BeforeFlush { get; set; } = static _ => { };

    /// <summary>Closes everything, as the end of a process does.</summary>
    public void Die()
    {
        lock (_gate)
        {
            foreach (int fd in _open.Keys) base.Close(fd);
            _open.Clear();
        }
    }

    /// <summary>
    /// What was written to the files and is not flushed could not be written back: each opening of them is told once, by its next flush.
    /// </summary>
    public void FailWriteBack(Func<string, bool> isOf)
    {
        lock (_gate)
            foreach ((int fd, Opening opening) in _open)
                if (isOf(NameOf(fd))) opening.HasError = true;
    }

    public override int Open(string path, int flags, uint mode)
    {
        lock (_gate)
        {
            if (_open.Count >= OpenMax) return Refuse(Emfile);
            int fd = base.Open(path, flags, mode);
            if (fd >= 0) _open.Add(fd, new Opening(path, flags));
            return fd;
        }
    }

    public override int Close(int fd)
    {
        lock (_gate) return _open.Remove(fd) ? base.Close(fd) : 0;
    }

    public override nint PRead(int fd, byte* buffer, nuint count, long offset)
    {
        lock (_gate)
            if (_open.TryGetValue(fd, out Opening? opening) && IsUnreadable(opening.Path)) return Refuse(Eio);
        return base.PRead(fd, buffer, count, offset);
    }

    public override int FDataSync(int fd)
    {
        BeforeFlush(NameOf(fd));
        int answer = base.FDataSync(fd);
        lock (_gate)
        {
            if (!_open.TryGetValue(fd, out Opening? opening) || !opening.HasError) return answer;
            opening.HasError = false;
            return Refuse(Eio);
        }
    }

    public override int FLock(int fd, int operation)
    {
        lock (_gate)
            if (LocksNeedWriting && (operation & Libc.LockExclusive) != 0 && (_open[fd].Flags & AccessMode) == 0) return Refuse(Ebadf);
        return base.FLock(fd, operation);
    }

    /// <summary>Returns the name that a file has now, whatever it had when it was opened.</summary>
    private static string NameOf(int fd) => Path.GetFileName(new FileInfo($"/proc/self/fd/{fd}").LinkTarget ?? "");

    private static int Refuse(int errno)
    {
        Marshal.SetLastPInvokeError(errno);
        return -1;
    }

    private sealed class Opening(string path, int flags)
    {
        public string Path => path;

        public int Flags => flags;

        public bool HasError { get; set; }
    }
}
