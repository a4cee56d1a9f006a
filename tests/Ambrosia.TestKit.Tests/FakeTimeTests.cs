namespace Ambrosia.TestKit.Tests;

public sealed class FakeTimeTests
{
    private readonly FakeTime _time = new();
    private readonly List<string> _fired = [];

    [Fact]
    public void Advance_TimersDue_FireInOrderOfTimeThenSetting()
    {
        Set("late", 30);
        Set("first", 10);
        Set("second", 10);
        _time.Advance(TimeSpan.FromMilliseconds(29));
        Assert.Equal(["first@10", "second@10"], _fired);
        _time.Advance(TimeSpan.FromMilliseconds(1));
        Assert.Equal("late@30", _fired[^1]);
    }

    [Fact]
    public void Advance_PeriodicTimer_FiresAtEachPeriodUntilDisposed()
    {
        ITimer timer = _time.CreateTimer(_ => _fired.Add(Now()), null, TimeSpan.FromMilliseconds(5), TimeSpan.FromMilliseconds(10));
        _time.Advance(TimeSpan.FromMilliseconds(26));
        Assert.Equal(["5", "15", "25"], _fired);
        timer.Dispose();
        _time.Advance(TimeSpan.FromSeconds(1));
        Assert.Equal(3, _fired.Count);
        Assert.Null(_time.UntilNextTimer);
    }

    [Fact]
    public void Advance_TimerSetByATimer_FiresInTheSameAdvance()
    {
        _time.CreateTimer(_ => Set("inner", 5), null, TimeSpan.FromMilliseconds(5), Timeout.InfiniteTimeSpan);
        _time.Advance(TimeSpan.FromMilliseconds(10));
        Assert.Equal(["inner@10"], _fired);
    }

    [Fact]
    public void Change_ArmedTimer_OnlyTheNewTimeCounts()
    {
        ITimer timer = Set("moved", 10);
        timer.Change(TimeSpan.FromMilliseconds(20), Timeout.InfiniteTimeSpan);
        _time.Advance(TimeSpan.FromMilliseconds(19));
        Assert.Empty(_fired);
        Assert.True(_time.AdvanceToNextTimer());
        Assert.Equal(["moved@20"], _fired);
        Assert.False(_time.AdvanceToNextTimer());
    }

    [Fact]
    public void Advance_FromACallback_IsRefused()
    {
        Exception? refused = null;
        _time.CreateTimer(_ => refused = Record.Exception(() => _time.Advance(TimeSpan.Zero)), null, TimeSpan.Zero, Timeout.InfiniteTimeSpan);
        _time.Advance(TimeSpan.Zero);
        Assert.IsType<InvalidOperationException>(refused);
    }

    [Fact]
    public async Task Delay_OnVirtualTime_CompletesByAdvance()
    {
        Task delay = Task.Delay(TimeSpan.FromHours(1), _time);
        Assert.False(delay.IsCompleted);
        _time.Advance(TimeSpan.FromHours(1));
        await delay;
    }

    [Fact]
    public void ShiftWallClock_Back_MonotonicClockDoesNotNotice()
    {
        long before = _time.GetTimestamp();
        DateTimeOffset wall = _time.GetUtcNow();
        _time.ShiftWallClock(TimeSpan.FromDays(-1000));
        _time.Advance(TimeSpan.FromSeconds(2));
        Assert.Equal(TimeSpan.FromSeconds(2), _time.GetElapsedTime(before));
        Assert.Equal(wall.AddDays(-1000).AddSeconds(2), _time.GetUtcNow());
    }

    private ITimer Set(string name, int ms) =>
        _time.CreateTimer(_ => _fired.Add($"{name}@{Now()}"), null, TimeSpan.FromMilliseconds(ms), Timeout.InfiniteTimeSpan);

    private string Now() => _time.Elapsed.TotalMilliseconds.ToString(System.Globalization.CultureInfo.InvariantCulture);
}
