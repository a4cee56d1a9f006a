using System.Runtime.InteropServices;

namespace Ambrosia.Log;

/// <summary>
/// Zeros to write: ahead of a log, and where a file system cannot set space aside. On Linux it is memory that nobody can write to, so that
/// the kernel's own large page of zeros stands behind all of it: it takes no memory, and the disk's driver takes a step in two pieces
/// instead of a thousand (docs/decisions/0015).
/// </summary>
internal static unsafe class Zeros
{
    public const int Bytes = 4 << 20;

    private static readonly byte* s_start = Map();

    public static ReadOnlySpan<byte> Span => new(s_start, Bytes);

    private static byte* Map()
    {
        if (OperatingSystem.IsLinux())
        {
            nuint whole = Bytes + Libc.LargePageBytes;
            void* mapped = Libc.MMap(null, whole, Libc.ProtectRead, Libc.PrivateMapping | Libc.AnonymousMapping, -1, 0);
            if (mapped != Libc.MapFailed)
            {
                byte* start = (byte*)(((nuint)mapped + Libc.LargePageBytes - 1) / Libc.LargePageBytes * Libc.LargePageBytes);
                _ = Libc.MAdvise(start, Bytes, Libc.LargePages); // a system without them takes small ones
                return start;
            }
        }
        void* cleared = NativeMemory.AlignedAlloc(Bytes, LogFormat.BlockBytes);
        NativeMemory.Clear(cleared, Bytes);
        return (byte*)cleared;
    }
}
