using System.Diagnostics;
using System.Globalization;
using System.Runtime.InteropServices;
using Ambrosia.Log.Files;

namespace Ambrosia.Tools.Diagnosis;

/// <summary>
/// Measures how long a flush takes, since each acknowledgement waits for one. A flush that takes no time reaches no disk.
/// </summary>
internal static class FlushCheck
{
    private const string Check = "flush";
    private const int Rounds = 32, PageBytes = 4_096;
    private static readonly TimeSpan s_suspicious = TimeSpan.FromMicroseconds(8), s_slow = TimeSpan.FromMilliseconds(25);

    public static Finding Run(string directory, MountPoint? mount)
    {
        var times = new List<TimeSpan>(Rounds);
        using IFile file = new PosixFileSystem().Create(Path.Combine(directory, "flush"));
        byte[] page = new byte[PageBytes];
        file.Write(new byte[Rounds * PageBytes], 0); // the log does so, too: it writes blocks once before it uses them
        file.Flush();
        for (int i = 0; i < Rounds; i++)
        {
            page.AsSpan().Fill((byte)(i + 1));
            long start = Stopwatch.GetTimestamp();
            file.Write(page, i * PageBytes);
            file.Flush();
            times.Add(Stopwatch.GetElapsedTime(start));
        }
        times.Sort();
        return Judge(times[Rounds / 2], times[^1], mount?.Type is "tmpfs" or "ramfs");
    }

    public static Finding Judge(TimeSpan median, TimeSpan longest, bool isMemory)
    {
        string what = string.Create(CultureInfo.InvariantCulture,
            $"4 KiB written and flushed in {median.TotalMilliseconds:F3} ms (median of {Rounds}), at most {longest.TotalMilliseconds:F3} ms");
        if (median < s_suspicious && !isMemory)
            return Finding.Warn(Check, what, "no disk is that fast: something on the way may ignore flushes",
                "look for a cache without a battery, a hypervisor's 'unsafe' or 'writeback' disk cache, or libeatmydata");
        return median > s_slow
            ? Finding.Warn(Check, what, "each answer waits that long; many at once share a flush, one after another do not",
                "use a disk with a protected write cache")
            : Finding.Ok(Check, what);
    }
}

/// <summary>
/// Tells whether writes can bypass the page cache (O_DIRECT). Both ways are safe; direct writes are faster for large pages.
/// </summary>
internal static unsafe class DirectWriteCheck
{
    private const string Check = "direct writes";
    private const int BlockBytes = 4_096;
    private const uint OwnerOnly = 0x180;

    private static int Direct => RuntimeInformation.ProcessArchitecture is Architecture.Arm64 or Architecture.Arm ? 0x1_0000 : 0x4000;

    public static Finding Run(string directory)
    {
        string path = Path.Combine(directory, "direct");
        int fd = Libc.Open(path, Libc.ReadWrite | Libc.CreateFlag | Libc.CloseOnExec | Direct, OwnerOnly);
        if (fd < 0) return NotTaken(PosixError.Of("open", path).Message);
        void* block = NativeMemory.AlignedAlloc(BlockBytes, BlockBytes);
        try
        {
            NativeMemory.Clear(block, BlockBytes);
            return Libc.PWrite(fd, (byte*)block, BlockBytes, 0) == BlockBytes ? Finding.Ok(Check, "the file system takes them (O_DIRECT)")
                : NotTaken(PosixError.Of("write of", path).Message);
        }
        finally
        {
            NativeMemory.AlignedFree(block);
            _ = Libc.Close(fd);
        }
    }

    private static Finding NotTaken(string why) => Finding.Ok(Check, $"not taken ({why}); buffered writes and flushes are used");
}
