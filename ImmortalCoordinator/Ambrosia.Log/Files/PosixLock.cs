namespace Ambrosia.Log;

/// <summary>A held <c>flock</c>; it ends when the descriptor is closed, by us or by the kernel.</summary>
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
