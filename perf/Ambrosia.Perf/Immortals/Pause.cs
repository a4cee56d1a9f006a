using System.Runtime.InteropServices;

namespace Ambrosia.Perf;

/// <summary>Sleeps to a moment of the monotonic clock with the kernel's precision (about 60 µs), where .NET has a millisecond.</summary>
internal static partial class Pause
{
    private const int Monotonic = 1, Absolute = 1, Interrupted = 4;
    private const long NanosecondsPerSecond = 1_000_000_000;

    /// <summary>
    /// Returns at once when <paramref name="timestamp"/> (Stopwatch's, which counts nanoseconds of that clock on Linux) has passed.
    /// </summary>
    public static void Until(long timestamp)
    {
        var time = new TimeSpec { Seconds = timestamp / NanosecondsPerSecond, Nanoseconds = timestamp % NanosecondsPerSecond };
        while (Sleep(Monotonic, Absolute, time, 0) == Interrupted) { }
    }

    [LibraryImport("libc", EntryPoint = "clock_nanosleep")]
    private static partial int Sleep(int clock, int flags, in TimeSpec until, nint left);

    [StructLayout(LayoutKind.Sequential)]
    private struct TimeSpec
    {
        public long Seconds, Nanoseconds;
    }
}
