namespace Ambrosia.Log;

/// <summary>
/// An open file. Reads and writes are at positions; short ones and EINTR are dealt with inside. Its lock belongs to this opening of it.
/// </summary>
public interface IFile : IReadable, IDisposable
{
    long Length { get; }

    void Write(ReadOnlySpan<byte> bytes, long offset);

    /// <summary>Writes parts that stand behind one another in the file, with one system call where the file system can.</summary>
    void Write(ReadOnlySpan<ReadOnlyMemory<byte>> parts, long offset)
    {
        foreach (ReadOnlyMemory<byte> part in parts)
        {
            Write(part.Span, offset);
            offset += part.Length;
        }
    }

    /// <summary>
    /// From now on what is written, and read, passes the page cache by; memory, offset and length of every read and write must then be
    /// multiples of 4,096. False: this file system does not do it, and nothing has changed. Whoever reads by another opening
    /// sees each write as before.
    /// </summary>
    bool TryWriteDirect() => false;

    /// <summary>
    /// Sets disk space aside up to <paramref name="length"/>, so that no write below it meets a full disk. The file's length stays, except
    /// where the file system can do it only by writing zeros behind the end.
    /// </summary>
    void Allocate(long length);

    /// <summary>Cuts or extends the file.</summary>
    void SetLength(long length);

    /// <summary>Content and length are on the device when it returns.</summary>
    void Flush();

    /// <summary>
    /// Locks the file (not its name) without waiting, against locks of other openings of it, <see cref="IFileSystem.TryLock"/> among them.
    /// Held until <see cref="Unlock"/>, disposal or death. False: another opening holds one that excludes it. To be asked for by an opening
    /// that holds none.
    /// </summary>
    bool TryLock(FileLockKind kind);

    /// <summary>Gives the lock back; nothing when there is none.</summary>
    void Unlock();

    /// <summary>Forgets cached content, so that the next reads come from the device; a hint.</summary>
    void DropCache();
}
