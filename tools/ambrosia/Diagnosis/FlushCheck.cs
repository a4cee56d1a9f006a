using System.Diagnostics;
using System.Globalization;
using Ambrosia.Log;

namespace Ambrosia.Tools;

/// <summary>How long a flush takes: each acknowledgement waits for one. One that takes no time reaches no disk.</summary>
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
        file.Write(new byte[Rounds * PageBytes], 0); // as the log does: blocks are written once before they are used
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
