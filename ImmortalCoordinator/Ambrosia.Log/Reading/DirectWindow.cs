using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Ambrosia.Log;

/// <summary>
/// Reads a file past the page cache, from any position into any memory: whole blocks go straight to where they are wanted, the rest through
/// a stretch of its own. For what another process writes past the cache, since the kernel would read ahead into what is not written yet,
/// only to throw it away at each of the writer's writes; and for what is read once, to be verified. Uses the stretch alone; owns neither it
/// nor the file. One thread. Invariant: what is kept from one read to the next lies below <see cref="Limit"/>.
/// </summary>
internal sealed class DirectWindow : IReadable
{
    private const int BlockBytes = LogFormat.BlockBytes;

    private readonly IFile _file;
    private readonly AlignedBlock _stretch;
    private long _from, _to; // file offsets of what is kept; equal: nothing is

    private DirectWindow(IFile file, AlignedBlock stretch)
    {
        _file = file;
        _stretch = stretch;
    }

    /// <summary>File offset below which nothing changes any more.</summary>
    public long Limit { get; set; } = long.MaxValue;

    /// <param name="file">From here on all reads of it must come through the window.</param>
    /// <param name="stretchBytes">Read at once where less is asked for; a multiple of 4,096.</param>
    /// <returns>Null: the file system does not do it, and nothing has changed.</returns>
    public static DirectWindow? TryMake(IFile file, int stretchBytes) => TryMake(file, null, stretchBytes);

    /// <param name="file">From here on all reads of it must come through the window.</param>
    /// <param name="stretch">Filled at once where less is asked for.</param>
    /// <returns>Null: the file system does not do it, and nothing has changed.</returns>
    public static DirectWindow? TryMake(IFile file, AlignedBlock stretch) => TryMake(file, stretch, stretch.Length);

    private static DirectWindow? TryMake(IFile file, AlignedBlock? stretch, int stretchBytes) =>
        file.TryWriteDirect() ? new DirectWindow(file, stretch ?? new AlignedBlock(stretchBytes, zeroed: false)) : null;

    public int Read(Span<byte> buffer, long offset)
    {
        int done = 0;
        while (done < buffer.Length)
        {
            Span<byte> left = buffer[done..];
            long at = offset + done;
            bool isKept = at >= _from && at < _to;
            if (!isKept && IsWholeBlocks(left, at) && left.Length >= Math.Min(_stretch.Length, Limit - at))
                return done + _file.Read(left, at);
            int count = isKept ? Copy(left, at, _to) : Fetch(left, at);
            if (count == 0) break;
            done += count;
        }
        return done;
    }

    /// <summary>What is read next comes from the device.</summary>
    public void Drop() => _from = _to = 0;

    private static bool IsWholeBlocks(Span<byte> to, long at)
    {
        nuint address = (nuint)Unsafe.ByteOffset(ref Unsafe.NullRef<byte>(), ref MemoryMarshal.GetReference(to));
        return to.Length % BlockBytes == 0 && at % BlockBytes == 0 && address % BlockBytes == 0;
    }

    private int Fetch(Span<byte> to, long at)
    {
        long from = at - at % BlockBytes;
        int wanted = (int)Math.Min(at - from + to.Length, _stretch.Length);
        int bytes = (int)Math.Clamp(Limit - from, LogFormat.RoundUp(wanted), _stretch.Length);
        int read = _file.Read(_stretch.Span[..LogFormat.RoundUp(bytes)], from);
        _from = from;
        int count = Copy(to, at, from + read);
        _to = Math.Max(from, Math.Min(from + read, Limit));
        return count;
    }

    private int Copy(Span<byte> to, long at, long end)
    {
        int count = (int)Math.Clamp(end - at, 0, to.Length);
        _stretch.Span.Slice((int)(at - _from), count).CopyTo(to);
        return count;
    }
}
