using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Ambrosia.Log.Files;

/// <summary>
/// Reads a file past the page cache, from any position into any memory: whole blocks go straight to where they are wanted, and the rest
/// passes through a buffer. It serves two cases: a file that another process writes past the cache, since the kernel would read ahead into
/// what is not written yet and throw it away at each write; and a file that is read once, to be verified. It has the exclusive use of the
/// buffer, but owns neither the buffer nor the file. One thread. Invariant: what is kept from one read to the next lies below
/// <see cref="Limit"/>.
/// </summary>
internal sealed class DirectReader : IReadable
{
    private const int BlockBytes = AlignedBlock.Alignment;

    private readonly IFile _file;
    private readonly AlignedBlock _buffer;
    private long _from, _to; // file offsets of what the buffer keeps; they are equal when it keeps nothing

    private DirectReader(IFile file, AlignedBlock buffer)
    {
        _file = file;
        _buffer = buffer;
    }

    /// <summary>The file offset below which nothing changes any more.</summary>
    public long Limit { get; set; } = long.MaxValue;

    /// <summary>Makes a reader of the file, which switches it to direct input and output.</summary>
    /// <param name="file">From here on all reads of it must come through this reader.</param>
    /// <param name="bufferBytes">This much is read at once where less is asked for; a multiple of 4,096.</param>
    /// <returns>Null when the file system does not support direct reads; then nothing has changed.</returns>
    public static DirectReader? TryMake(IFile file, int bufferBytes) => TryMake(file, null, bufferBytes);

    /// <summary>Makes a reader of the file, which switches it to direct input and output.</summary>
    /// <param name="file">From here on all reads of it must come through this reader.</param>
    /// <param name="buffer">It is filled at once where less is asked for.</param>
    /// <returns>Null when the file system does not support direct reads; then nothing has changed.</returns>
    public static DirectReader? TryMake(IFile file, AlignedBlock buffer) => TryMake(file, buffer, buffer.Length);

    private static DirectReader? TryMake(IFile file, AlignedBlock? buffer, int bufferBytes) =>
        file.TryWriteDirect() ? new DirectReader(file, buffer ?? new AlignedBlock(bufferBytes, zeroed: false)) : null;

    public int Read(Span<byte> to, long offset)
    {
        int done = 0;
        while (done < to.Length)
        {
            Span<byte> left = to[done..];
            long at = offset + done;
            bool isKept = at >= _from && at < _to;
            if (!isKept && IsWholeBlocks(left, at) && left.Length >= Math.Min(_buffer.Length, Limit - at))
                return done + _file.Read(left, at);
            int count = isKept ? Copy(left, at, _to) : Fetch(left, at);
            if (count == 0) break;
            done += count;
        }
        return done;
    }

    /// <summary>Forgets what the buffer keeps, so that the next read comes from the device.</summary>
    public void Drop() => _from = _to = 0;

    private static bool IsWholeBlocks(Span<byte> to, long at)
    {
        nuint address = (nuint)Unsafe.ByteOffset(ref Unsafe.NullRef<byte>(), ref MemoryMarshal.GetReference(to));
        return to.Length % BlockBytes == 0 && at % BlockBytes == 0 && address % BlockBytes == 0;
    }

    /// <summary>Fills the buffer from the block that holds <paramref name="at"/>, and copies what is wanted of it.</summary>
    private int Fetch(Span<byte> to, long at)
    {
        long from = at - at % BlockBytes;
        int wanted = (int)Math.Min(at - from + to.Length, _buffer.Length);
        int bytes = (int)Math.Clamp(Limit - from, AlignedBlock.RoundUp(wanted), _buffer.Length);
        int read = ReadSome(AlignedBlock.RoundUp(bytes), AlignedBlock.RoundUp(wanted), from);
        _from = from;
        int count = Copy(to, at, from + read);
        _to = Math.Max(from, Math.Min(from + read, Limit));
        return count;
    }

    /// <summary>Reads the whole piece, or only what is wanted where the disk does not give back what stands behind that.</summary>
    private int ReadSome(int bytes, int wanted, long from)
    {
        try
        {
            return _file.Read(_buffer.Span[..bytes], from);
        }
        catch (IOException e) when (wanted < bytes && IFileSystem.IsUnreadable(e))
        {
            return _file.Read(_buffer.Span[..wanted], from);
        }
    }

    private int Copy(Span<byte> to, long at, long end)
    {
        int count = (int)Math.Clamp(end - at, 0, to.Length);
        _buffer.Span.Slice((int)(at - _from), count).CopyTo(to);
        return count;
    }
}
