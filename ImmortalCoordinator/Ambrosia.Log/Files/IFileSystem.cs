namespace Ambrosia.Log.Files;

/// <summary>
/// The files seam: every file operation of log, checkpoints, fence, locks and catalog passes through this interface, so that a simulator
/// controls all of them. Paths are absolute. Every failure other than those named here is an <see cref="IOException"/>. After one from a
/// write, a flush or a look-up of the fence the state of the disk is unknown, and the process must end (exit 74).
/// </summary>
public interface IFileSystem
{
    /// <summary>Opens an existing file.</summary>
    /// <exception cref="FileNotFoundException">The file is not there.</exception>
    IFile Open(string path, FileUse use);

    /// <summary>Makes a new file with mode 0600 and opens it for reading and writing.</summary>
    /// <exception cref="FileExistsException">The name is taken.</exception>
    IFile Create(string path);

    /// <summary>Says whether the name exists, by one look-up that no cache answers: the fence check rests on it.</summary>
    bool Exists(string path);

    /// <summary>Lists the names (not the paths) in a directory, in ordinal order; the list is empty when there is no directory.</summary>
    IReadOnlyList<string> List(string directory);

    /// <summary>Makes a directory with mode 0700, and its missing parents; an existing directory stays as it is.</summary>
    void CreateDirectory(string path);

    /// <summary>Renames a file and replaces an existing target.</summary>
    /// <exception cref="FileNotFoundException">The source is not there.</exception>
    void Rename(string from, string to);

    /// <summary>Renames a file unless the target exists; returns false then.</summary>
    /// <exception cref="FileNotFoundException">The source is not there.</exception>
    bool TryRenameNew(string from, string to);

    /// <summary>Gives a file a second name; returns false when that name exists.</summary>
    bool TryLink(string existing, string link);

    /// <summary>
    /// Gives a file that was written under another name its own, unless that is taken; returns false then. The other name may be gone
    /// afterwards: a file system without links (SMB) has a rename that replaces nothing in their place.
    /// </summary>
    /// <exception cref="FileNotFoundException">The file is not there.</exception>
    bool TryName(string unfinished, string name)
    {
        const int notPermitted = 1, notImplemented = 38, notSupported = 95; // EPERM, ENOSYS, EOPNOTSUPP
        try
        {
            return TryLink(unfinished, name);
        }
        catch (IOException e) when (e.HResult is notPermitted or notImplemented or notSupported)
        {
            return TryRenameNew(unfinished, name);
        }
    }

    /// <summary>Removes a name; a name that is not there is no error.</summary>
    void Delete(string path);

    /// <summary>Makes the names in a directory durable: what was created, renamed, linked and removed there.</summary>
    void FlushDirectory(string path);

    /// <summary>Returns how many bytes this process may still write to the directory's file system.</summary>
    long FreeBytes(string directory);

    /// <summary>
    /// Takes the exclusive lock of a file without waiting, and makes the file when it is not there. The result is null when another process
    /// has the lock.
    /// </summary>
    IFileLock? TryLock(string path);

    /// <summary>
    /// Waits until the file can be locked, or returns null when it is gone. Only pumps call this, since a simulator cannot wait.
    /// </summary>
    IFileLock? WaitForLock(string path, CancellationToken stop);

    /// <summary>Tells a full disk, which time or an operator mends, from a broken one.</summary>
    static bool IsDiskFull(IOException e) => IsDiskFull(e.HResult);

    private static bool IsDiskFull(int errno)
    {
        const int noSpace = 28, quotaReached = 122; // ENOSPC, EDQUOT
        return errno is noSpace or quotaReached;
    }

    /// <summary>
    /// Tells what a device or a file system cannot read any more of one file, such as a bad sector or a checksum of its own that does not
    /// hold, from other errors. It lasts, and says nothing of other files.
    /// </summary>
    static bool IsUnreadable(IOException e)
    {
        // EIO; past the cache also ENODATA (a bad medium) and EILSEQ (the device's protection); EBADMSG and EUCLEAN (own checksums)
        const int inputOutput = 5, noData = 61, badMessage = 74, badSequence = 84, needsCleaning = 117;
        return e.HResult is inputOutput or noData or badMessage or badSequence or needsCleaning;
    }

    /// <summary>
    /// Tells what the system refuses for now from what is broken: space, descriptors, memory and threads that ran out come back when others
    /// give them up. A thread whose writes the log's safety does not need waits, says so once, and goes on.
    /// </summary>
    static bool IsNotNow(IOException e) => IsNotNow(e.HResult);

    /// <inheritdoc cref="IsNotNow(IOException)"/>
    static bool IsNotNow(int errno) => IsDiskFull(errno) || IsLimit(errno);

    /// <summary>Tells those refusals of <see cref="IsNotNow(int)"/> that do not concern the disk, by the number of the error.</summary>
    static bool IsLimit(int errno)
    {
        const int again = 11, noMemory = 12, tooManyOfAll = 23, tooManyOfOne = 24; // EAGAIN, ENOMEM, ENFILE, EMFILE
        const int programIsWritten = 26; // ETXTBSY
        return errno is again or noMemory or tooManyOfAll or tooManyOfOne or programIsWritten;
    }

    /// <summary>Tells what this user may not do, which an operator mends, from a broken disk.</summary>
    static bool IsForbidden(IOException e)
    {
        const int notPermitted = 1, accessDenied = 13; // EPERM, EACCES
        return e.HResult is notPermitted or accessDenied;
    }

    /// <summary>
    /// Finds out, before anything else is made, whether a directory's file system can be written past the page cache. The directory, or the
    /// nearest one above that exists, gets a file for a moment.
    /// </summary>
    /// <exception cref="IOException">No file can be made there.</exception>
    bool CanWriteDirect(string directory)
    {
        string existing = directory;
        while (!Exists(existing) && Path.GetDirectoryName(existing) is { } parent) existing = parent;
        string path = Path.Combine(existing, $".direct-write-{Guid.NewGuid():N}");
        try
        {
            using IFile file = Create(path);
            return file.TryWriteDirect();
        }
        finally
        {
            Delete(path);
        }
    }
}

/// <summary>Says what an open file is used for.</summary>
public enum FileUse
{
    Read,

    /// <summary>
    /// The system reads nothing but what is asked for; <see cref="IFile.ExpectReads"/> asks, too. A coordinator reads segments so: behind
    /// the pages of one there is space in which nothing was written, which would be read into the cache, and count as data there.
    /// </summary>
    ReadPages,

    ReadWrite,
}

/// <summary>A held lock. The kernel frees it when the process dies; child processes never inherit it.</summary>
public interface IFileLock : IDisposable
{
    IFile File { get; }

    /// <summary>True while the locked file is still the one that has the name; inodes are compared.</summary>
    bool IsStillNamed { get; }
}

/// <summary>A file cannot be made because its name is taken.</summary>
public sealed class FileExistsException(string path) : IOException($"{path} exists already");
