using System.Runtime.InteropServices;

namespace Ambrosia.Perf;

/// <summary>User and system time of another process or of a thread, to the nanosecond: the clock that Linux keeps for each.</summary>
internal static partial class ProcessorTime
{
    /// <summary>Of a clock id: the kind that counts all threads in user and system mode (posix-timers.h: CPUCLOCK_SCHED).</summary>
    private const int ScheduledTime = 2, KindBits = 3;

    /// <summary>Of the calling thread (CLOCK_THREAD_CPUTIME_ID).</summary>
    private const int ThreadClock = 3;

    /// <summary>Seconds since its start, threads that ended included.</summary>
    /// <exception cref="FailedRoundException">It is gone.</exception>
    public static double OfProcess(int id) =>
        ReadClock((~id << KindBits) | ScheduledTime, out TimeSpec time) == 0
            ? time.Seconds + (time.Nanoseconds * 1e-9)
            : throw new FailedRoundException($"process {id} has no clock: it ended");

    /// <summary>Seconds of the thread that asks.</summary>
    public static double OfThisThread()
    {
        _ = ReadClock(ThreadClock, out TimeSpec time);
        return time.Seconds + (time.Nanoseconds * 1e-9);
    }

    [LibraryImport("libc", EntryPoint = "clock_gettime")]
    private static partial int ReadClock(int clock, out TimeSpec time);

    [StructLayout(LayoutKind.Sequential)]
    private struct TimeSpec
    {
        public long Seconds, Nanoseconds;
    }
}
