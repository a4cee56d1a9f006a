using Ambrosia.Log.Files;

namespace Ambrosia.Log.Commit;

/// <summary>
/// The clocks of the operating system, of which the monotonic one goes on while the machine is suspended (CLOCK_BOOTTIME). A log's time,
/// the timers that go by it, and a primary's knowledge that it still is one go by these. What tells whether this process gets on goes by
/// the clock that stands meanwhile. A virtual machine that is paused from outside sees neither clock move. Stateless; any thread.
/// </summary>
public sealed class BootTime : TimeProvider
{
    private const long NanosecondsPerSecond = 1_000_000_000;

    private BootTime() { }

    public static BootTime Instance { get; } = new();

    public override long TimestampFrequency => NanosecondsPerSecond;

    public override unsafe long GetTimestamp()
    {
        Libc.TimeSpec now;
        // Linux has this clock since 2.6.39, and the call fails only where there is none.
        if (Libc.ClockGetTime(Libc.BootClock, &now) < 0) throw new PlatformNotSupportedException("there is no CLOCK_BOOTTIME");
        return now.Seconds * NanosecondsPerSecond + now.Nanoseconds;
    }
}
