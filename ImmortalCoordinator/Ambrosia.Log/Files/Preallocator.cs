using System.Runtime.InteropServices;

namespace Ambrosia.Log.Files;

/// <summary>
/// Owns the zeros that are written ahead of a log, and where a file system cannot set space aside. On Linux they are memory that nobody can
/// write to, so that the kernel's own large page of zeros stands behind all of it: it takes no memory, and the disk's driver takes a step
/// in two pieces instead of a thousand (experiment 15). Any thread reads them.
/// </summary>
internal static unsafe class Preallocator
{
    /// <summary>There are so many zeros: the most that one step writes.</summary>
    public const int StepBytes = 4 << 20;

    private static readonly byte* s_start = Map();

    public static ReadOnlySpan<byte> ZeroBytes => new(s_start, StepBytes);

    private static byte* Map()
    {
        if (OperatingSystem.IsLinux())
        {
            nuint whole = StepBytes + Libc.LargePageBytes;
            void* mapped = Libc.MMap(null, whole, Libc.ProtectRead, Libc.PrivateMapping | Libc.AnonymousMapping, -1, 0);
            if (mapped != Libc.MapFailed)
            {
                byte* start = (byte*)(((nuint)mapped + Libc.LargePageBytes - 1) / Libc.LargePageBytes * Libc.LargePageBytes);
                _ = Libc.MAdvise(start, StepBytes, Libc.LargePages); // a system without large pages takes small ones
                return start;
            }
        }
        void* cleared = NativeMemory.AlignedAlloc(StepBytes, AlignedBlock.Alignment);
        NativeMemory.Clear(cleared, StepBytes);
        return (byte*)cleared;
    }
}
