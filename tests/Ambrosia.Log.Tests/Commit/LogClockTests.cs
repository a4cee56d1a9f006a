using System.Globalization;
using Ambrosia.Log.Commit;
using Ambrosia.TestKit;

namespace Ambrosia.Log.Tests;

/// <summary>The time of a log, whatever happens to the wall clock.</summary>
public sealed class LogClockTests
{
    private static readonly TimeSpan s_hour = TimeSpan.FromHours(1), s_minute = TimeSpan.FromMinutes(1);

    private readonly FakeTime _time = new();

    private TimeSpan Wall => _time.GetUtcNow() - DateTimeOffset.UnixEpoch;

    private static TimeSpan Now(LogClock clock) => TimeSpan.FromMicroseconds(clock.NowMicros());

    [Fact]
    public void Now_NothingHappens_IsTheWallClock()
    {
        var clock = new LogClock(_time, 0);
        for (int i = 0; i < 100; i++)
        {
            _time.Advance(TimeSpan.FromMilliseconds(i));
            Assert.Equal(Wall, Now(clock));
        }
        Assert.False(clock.TakeJump(out _, out _));
    }

    /// <summary>Behind a night of suspension both clocks have gone on: the log's time is right at once, and nothing jumped.</summary>
    [Fact]
    public void Now_MachineWasSuspended_IsTheWallClockAtOnce()
    {
        var clock = new LogClock(_time, 0);
        _time.Advance(s_hour * 8);
        Assert.Equal(Wall, Now(clock));
        Assert.False(clock.TakeJump(out _, out _));
    }

    /// <summary>The kernel's own figure of that clock, /proc/uptime, which is cut to hundredths, stands around each reading.</summary>
    [Fact]
    public void BootTime_Always_CountsWhatTheMachineWasSuspended()
    {
        static double Uptime() => double.Parse(File.ReadAllText("/proc/uptime").Split(' ')[0], CultureInfo.InvariantCulture);
        double before = Uptime(), now = BootTime.Instance.GetElapsedTime(0).TotalSeconds, after = Uptime();
        Assert.InRange(now, before - 0.02, after + 0.02);
        long first = BootTime.Instance.GetTimestamp();
        Assert.True(BootTime.Instance.GetTimestamp() >= first);
    }

    /// <summary>However far and in which direction: a minute takes between 54 and 66 seconds, until the two are one again.</summary>
    [Theory]
    [InlineData(-24 * 365)]
    [InlineData(-1)]
    [InlineData(1)]
    [InlineData(25)]
    public void Now_WallClockSet_GoesOnAndComesNearerByATenth(int hours)
    {
        var clock = new LogClock(_time, 0);
        TimeSpan before = Now(clock);
        _time.ShiftWallClock(s_hour * hours);
        Assert.Equal(before, Now(clock));
        for (int i = 1; i <= 9; i++)
        {
            _time.Advance(s_minute);
            Assert.Equal(before + (s_minute * i * (hours < 0 ? 0.9 : 1.1)), Now(clock));
        }
        Assert.True(clock.TakeJump(out TimeSpan jump, out TimeSpan ahead));
        Assert.Equal(s_hour * hours, jump);
        Assert.Equal(Now(clock) - Wall, ahead);
        Assert.False(clock.TakeJump(out _, out _)); // each is told of once
        for (int i = 0; i < Math.Abs(hours) * 11; i++) _time.Advance(s_hour);
        Assert.Equal(Wall, Now(clock));
        _time.Advance(s_minute);
        Assert.Equal(Wall, Now(clock));
        Assert.False(clock.TakeJump(out _, out _));
    }

    /// <summary>A clock that is set wrong and put right again leaves nothing behind.</summary>
    [Fact]
    public void Now_WallClockSetAndPutRight_IsTheWallClockSoon()
    {
        var clock = new LogClock(_time, 0);
        _time.ShiftWallClock(s_hour);
        _time.Advance(s_minute);
        Now(clock);
        _time.ShiftWallClock(-s_hour);
        _time.Advance(s_minute);
        Assert.Equal(Wall, Now(clock));
    }

    [Fact]
    public void Now_LogAheadOfTheWallClock_GoesOnFromThere()
    {
        TimeSpan last = Wall + s_hour;
        var clock = new LogClock(_time, last.Ticks / TimeSpan.TicksPerMicrosecond);
        Assert.Equal(last, Now(clock));
        Assert.True(clock.TakeJump(out TimeSpan jump, out TimeSpan ahead));
        Assert.Equal((-s_hour, s_hour), (jump, ahead));
        _time.Advance(s_minute);
        Assert.Equal(last + (s_minute * 0.9), Now(clock));
    }

    [Fact]
    public void Now_LogBehindTheWallClock_IsTheWallClockAtOnce()
    {
        var clock = new LogClock(_time, (Wall - s_hour).Ticks / TimeSpan.TicksPerMicrosecond);
        Assert.Equal(Wall, Now(clock));
        Assert.False(clock.TakeJump(out _, out _)); // nobody wrote for an hour
    }

    /// <summary>Any clock at all: the time never goes back, and its rate is between 0.9 and 1.1.</summary>
    [Fact]
    public void Now_AnyWallClock_KeepsItsRate()
    {
        var random = new SimulatedRandom(17);
        var clock = new LogClock(_time, 0);
        TimeSpan last = Now(clock);
        for (int i = 0; i < 10_000; i++)
        {
            if (random.Next(5) == 0) _time.ShiftWallClock(TimeSpan.FromSeconds(random.Next(20_000) - 10_000));
            TimeSpan passed = TimeSpan.FromMicroseconds(random.Next(3) == 0 ? random.Next(100) : random.Next(100_000_000));
            _time.Advance(passed);
            TimeSpan now = Now(clock), grain = TimeSpan.FromMicroseconds(1);
            Assert.InRange(now - last, (passed * 0.9) - grain, (passed * 1.1) + grain);
            Assert.True(now >= last);
            last = now;
        }
    }
}
