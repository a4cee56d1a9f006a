namespace Ambrosia.Log;

/// <summary>
/// The files seam: every file operation of log, checkpoints, fence, locks and catalog passes here, so that the simulator rules them all.
/// Paths are absolute. Every failure other than the ones named is an <see cref="IOException"/>; after one from a write, a flush or a
/// fence read the state of the disk is unknown and the process must end (exit 74).
/// </summary>
public interface IFileSystem
{
    /// <summary>Opens an existing file. <exception cref="FileNotFoundException">It is not there.</exception></summary>
    IFile Open(string path, FileUse use);

    /// <summary>Makes a new file, mode 0600. <exception cref="FileExistsException">The name is taken.</exception></summary>
    IFile Create(string path);

    /// <summary>True when the name exists: one uncached look-up, the fence check.</summary>
    bool Exists(string path);

    /// <summary>Names (not paths) in a directory, in ordinal order; empty when the directory is not there.</summary>
    IReadOnlyList<string> List(string directory);

    /// <summary>Makes a directory, mode 0700, and its missing parents; nothing when it is there.</summary>
    void CreateDirectory(string path);

    /// <summary>
    /// Renames, replacing an existing target. <exception cref="FileNotFoundException">The source is not there.</exception>
    /// </summary>
    void Rename(string from, string to);

    /// <summary>
    /// Renames without replacing: false when the target exists. <exception cref="FileNotFoundException">The source
    /// is not there.</exception>
    /// </summary>
    bool TryRenameNew(string from, string to);

    /// <summary>A second name for a file: false when that name exists.</summary>
    bool TryLink(string existing, string link);

    /// <summary>Removes a name; nothing when it is not there.</summary>
    void Delete(string path);

    /// <summary>Makes names durable: creations, renames, links and removals in the directory.</summary>
    void FlushDirectory(string path);

    /// <summary>Bytes free for us on the directory's file system.</summary>
    long FreeBytes(string directory);

    /// <summary>Takes the exclusive lock of a file (made when it is not there) without waiting; null when another process has it.</summary>
    IFileLock? TryLock(string path);

    /// <summary>Waits until the file can be locked, or is gone (null). Only pumps call it; a simulator never does.</summary>
    IFileLock? WaitForLock(string path, CancellationToken stop);
}
