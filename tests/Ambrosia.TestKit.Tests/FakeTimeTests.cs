namespace Ambrosia.TestKit.Tests;

public sealed class FakeTimeTests
{
    private readonly FakeTime time = new();
    private readonly List<string> fired = [];

    [Fact]
    public void Advance_TimersDue_FireInOrderOfTimeThenSetting()
    {
        Set("late", 30);
        Set("first", 10);
        Set("second", 10);
        time.Advance(TimeSpan.FromMilliseconds(29));
        Assert.Equal(["first@10", "second@10"], fired);
        time.Advance(TimeSpan.FromMilliseconds(1));
        Assert.Equal("late@30", fired[^1]);
    }

    [Fact]
    public void Advance_PeriodicTimer_FiresAtEachPeriodUntilDisposed()
    {
        ITimer timer = time.CreateTimer(_ => fired.Add(Now()), null, TimeSpan.FromMilliseconds(5), TimeSpan.FromMilliseconds(10));
        time.Advance(TimeSpan.FromMilliseconds(26));
        Assert.Equal(["5", "15", "25"], fired);
        timer.Dispose();
        time.Advance(TimeSpan.FromSeconds(1));
        Assert.Equal(3, fired.Count);
        Assert.Null(time.UntilNextTimer);
    }

    [Fact]
    public void Advance_TimerSetByATimer_FiresInTheSameAdvance()
    {
        time.CreateTimer(_ => Set("inner", 5), null, TimeSpan.FromMilliseconds(5), Timeout.InfiniteTimeSpan);
        time.Advance(TimeSpan.FromMilliseconds(10));
        Assert.Equal(["inner@10"], fired);
    }

    [Fact]
    public void Change_ArmedTimer_OnlyTheNewTimeCounts()
    {
        ITimer timer = Set("moved", 10);
        timer.Change(TimeSpan.FromMilliseconds(20), Timeout.InfiniteTimeSpan);
        time.Advance(TimeSpan.FromMilliseconds(19));
        Assert.Empty(fired);
        Assert.True(time.AdvanceToNextTimer());
        Assert.Equal(["moved@20"], fired);
        Assert.False(time.AdvanceToNextTimer());
    }

    [Fact]
    public void Advance_FromACallback_IsRefused()
    {
        Exception? refused = null;
        time.CreateTimer(_ => refused = Record.Exception(() => time.Advance(TimeSpan.Zero)), null, TimeSpan.Zero, Timeout.InfiniteTimeSpan);
        time.Advance(TimeSpan.Zero);
        Assert.IsType<InvalidOperationException>(refused);
    }

    [Fact]
    public async Task Delay_OnVirtualTime_CompletesByAdvance()
    {
        Task delay = Task.Delay(TimeSpan.FromHours(1), time);
        Assert.False(delay.IsCompleted);
        time.Advance(TimeSpan.FromHours(1));
        await delay;
    }

    [Fact]
    public void ShiftWallClock_Back_MonotonicClockDoesNotNotice()
    {
        long before = time.GetTimestamp();
        DateTimeOffset wall = time.GetUtcNow();
        time.ShiftWallClock(TimeSpan.FromDays(-1000));
        time.Advance(TimeSpan.FromSeconds(2));
        Assert.Equal(TimeSpan.FromSeconds(2), time.GetElapsedTime(before));
        Assert.Equal(wall.AddDays(-1000).AddSeconds(2), time.GetUtcNow());
    }

    private ITimer Set(string name, int ms) =>
        time.CreateTimer(_ => fired.Add($"{name}@{Now()}"), null, TimeSpan.FromMilliseconds(ms), Timeout.InfiniteTimeSpan);

    private string Now() => time.Elapsed.TotalMilliseconds.ToString(System.Globalization.CultureInfo.InvariantCulture);
}
