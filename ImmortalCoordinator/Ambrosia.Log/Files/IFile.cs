namespace Ambrosia.Log.Files;

/// <summary>
/// Reads and writes an open file. Each call names its position; the implementation deals with short ones and with EINTR. A lock belongs to
/// this opening of the file, not to the process.
/// </summary>
public interface IFile : IReadable, IDisposable
{
    long Length { get; }

    /// <summary>
    /// Says how many bytes of the device the file takes, for what was written and set aside. Ranges that were never written take none.
    /// </summary>
    long BytesTaken => Length;

    void Write(ReadOnlySpan<byte> bytes, long offset);

    /// <summary>Writes parts that follow one another in the file, with one system call where the file system can do that.</summary>
    void Write(ReadOnlySpan<ReadOnlyMemory<byte>> parts, long offset)
    {
        foreach (ReadOnlyMemory<byte> part in parts)
        {
            Write(part.Span, offset);
            offset += part.Length;
        }
    }

    /// <summary>
    /// Lets reads and writes of this opening bypass the page cache from now on. Memory, offset and length of each must then be multiples of
    /// 4,096. Other openings of the file see each write as before. Returns false when the file system does not support this; then nothing
    /// has changed.
    /// </summary>
    bool TryWriteDirect() => false;

    /// <summary>
    /// Sets disk space aside for the bytes from <paramref name="from"/> up to <paramref name="end"/>, so that no write there meets a full
    /// disk. The caller has written nothing there. The file's length stays; a file system that can set space aside only by writing zeros
    /// makes a file longer that ends before <paramref name="end"/>.
    /// </summary>
    void Allocate(long from, long end);

    /// <summary>Cuts the file, or extends it by bytes that are zero and take no space.</summary>
    void SetLength(long length);

    /// <summary>
    /// Brings content and length to the device before it returns. What could not be written back is told to each opening of the file once,
    /// so two threads that both rely on it flush through two openings.
    /// </summary>
    void Flush();

    /// <summary>
    /// Locks the file (not its name) without waiting, against locks of other openings, those of <see cref="IFileSystem.TryLock"/> included.
    /// The lock is held until <see cref="Unlock"/>, disposal or the death of the process. Returns false when another opening holds a lock
    /// that excludes this one. The caller's opening must not hold a lock already.
    /// </summary>
    bool TryLock(FileLockKind kind);

    /// <summary>Gives the lock back; does nothing when there is none.</summary>
    void Unlock();

    /// <summary>
    /// Tells the file system which bytes are read soon, so that they are on their way meanwhile. It may ignore this hint.
    /// </summary>
    void ExpectReads(long offset, long bytes) { }

    /// <summary>
    /// Returns the first stretch at or behind <paramref name="offset"/> in which something may have been written; all bytes before it are
    /// zero. It is empty, at the file's length, where there is none. A file system that does not know returns all that is left.
    /// </summary>
    FileStretch NextData(long offset) => new(Math.Min(offset, Length), Length);

    /// <summary>Drops cached content, so that the next reads come from the device. The file system may ignore this hint.</summary>
    void DropCache();
}

/// <summary>Reads bytes at any position of a file, in the way that the implementation has chosen.</summary>
public interface IReadable
{
    /// <summary>Reads until the buffer is full or the file ends, and returns how many bytes were read.</summary>
    int Read(Span<byte> buffer, long offset);

    /// <summary>
    /// Reads as <see cref="Read"/> does, and once more where the device gives nothing back: only an error that lasts counts.
    /// </summary>
    int ReadSteadily(Span<byte> buffer, long offset)
    {
        try
        {
            return Read(buffer, offset);
        }
        catch (IOException e) when (IFileSystem.IsUnreadable(e))
        {
            return Read(buffer, offset);
        }
    }
}

/// <summary>Says where a part of a file begins and ends.</summary>
/// <param name="Start">The offset of its first byte.</param>
/// <param name="End">The offset behind its last byte.</param>
public readonly record struct FileStretch(long Start, long End);

/// <summary>Says which other locks of a file a lock excludes.</summary>
public enum FileLockKind
{
    /// <summary>Any number of openings may hold it, read-only ones too. A reader holds it while the file must stay as it is.</summary>
    Shared,

    /// <summary>One opening holds it, one that may write (over NFS no other can), and nobody else holds any lock.</summary>
    Exclusive,
}
