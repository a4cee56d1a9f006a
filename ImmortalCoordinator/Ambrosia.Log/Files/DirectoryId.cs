using System.Globalization;

namespace Ambrosia.Log.Files;

/// <summary>
/// Names one directory of one running kernel, so that a copy of it is told from itself, whatever path either has. A directory that was
/// renamed keeps its name; behind a start of the machine it has another one, and so has what a snapshot of the machine became. Any thread.
/// </summary>
public static class DirectoryId
{
    /// <summary>Returns the name of a directory; empty: it is not there, or the system does not say.</summary>
    public static unsafe string Of(string directory)
    {
        Libc.FileStatus status;
        if (MountId.BootOfThisKernel() is not { } boot) return "";
        if (Libc.StatX(Libc.CurrentDirectory, directory, 0, Libc.InodeMask, &status) < 0) return "";
        return string.Create(CultureInfo.InvariantCulture, $"{boot:D}/{status.DeviceMajor}:{status.DeviceMinor}/{status.Inode}");
    }
}
