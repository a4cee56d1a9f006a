using System.Buffers.Binary;

namespace Ambrosia.Log;

/// <summary>
/// The held lock <c>primary.&lt;n&gt;.&lt;replica&gt;</c>. Its first 8 bytes count heartbeats; they are never flushed, and nothing but a
/// waiter's impatience rests on them. The commit pump beats, after a fence check and never while a flush is outstanding, so
/// that a stuck disk is silent.
/// </summary>
public sealed class PrimaryLock : IDisposable
{
    private readonly IFileLock _lock;
    private ulong _beats;

    internal PrimaryLock(IFileLock held, string path)
    {
        _lock = held;
        Path = path;
    }

    public string Path { get; }

    public void Beat()
    {
        Span<byte> bytes = stackalloc byte[8];
        BinaryPrimitives.WriteUInt64LittleEndian(bytes, ++_beats);
        _lock.File.Write(bytes, 0);
    }

    /// <summary>A primary's counter as an observer sees it; null when the file is gone. 0 before the first beat.</summary>
    public static ulong? ReadBeat(IFileSystem fs, string path)
    {
        try
        {
            using IFile file = fs.Open(path, FileUse.Read);
            Span<byte> bytes = stackalloc byte[8];
            return file.Read(bytes, 0) == bytes.Length ? BinaryPrimitives.ReadUInt64LittleEndian(bytes) : 0;
        }
        catch (FileNotFoundException)
        {
            return null;
        }
    }

    public void Dispose() => _lock.Dispose();
}
