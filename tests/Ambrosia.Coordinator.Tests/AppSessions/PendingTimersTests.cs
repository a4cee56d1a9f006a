using Ambrosia.Coordinator.AppSessions;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Records;

namespace Ambrosia.Coordinator.Tests;

public sealed class PendingTimersTests
{
    private readonly PendingTimers _timers = new();

    private List<(ulong, long)> Due(long now)
    {
        var taken = new List<(ulong, long)>();
        while (_timers.TryTake(now, out TimerFiredRecord fired)) taken.Add((fired.Timer, fired.DueUs));
        return taken;
    }

    [Fact]
    public void TryTake_GivesWhatIsDue_EarliestFirst_ThenByNumber()
    {
        _timers.Set(new TimerSet(1, 30));
        _timers.Set(new TimerSet(3, 10));
        _timers.Set(new TimerSet(2, 10));
        _timers.Set(new TimerSet(4, 31));

        Assert.Equal([], Due(9));
        Assert.Equal([(2, 10), (3, 10), (1, 30)], Due(30));
        Assert.Equal(31, _timers.FirstDue);
    }

    [Fact]
    public void Set_SaysWhetherItIsTheFirst()
    {
        Assert.True(_timers.Set(new TimerSet(1, 30)));
        Assert.False(_timers.Set(new TimerSet(2, 40)));
        Assert.True(_timers.Set(new TimerSet(3, 20)));
        Assert.False(_timers.Set(new TimerSet(3, 20)));
    }

    [Fact]
    public void Set_Again_ReplacesTheDueTime()
    {
        _timers.Set(new TimerSet(1, 30));
        _timers.Set(new TimerSet(1, 50));

        Assert.Equal([], Due(49));
        Assert.Equal([(1, 50)], Due(50));
    }

    /// <summary>The app's word that it fired is on its way: until then it is not logged again, and a new due time counts.</summary>
    [Fact]
    public void TryTake_Taken_IsGivenOnceADueTime()
    {
        _timers.Set(new TimerSet(1, 30));
        Assert.Equal([(1, 30)], Due(100));
        Assert.Equal([], Due(100));
        Assert.Equal(1, _timers.Count);

        _timers.Set(new TimerSet(1, 60));
        Assert.Equal([(1, 60)], Due(100));
        _timers.Drop(1);
        Assert.Equal(0, _timers.Count);
        _timers.Drop(1);
    }

    [Fact]
    public void GiveBack_OfWhatTheAppStillWaitsFor_IsGivenAgain()
    {
        _timers.Set(new TimerSet(1, 30));
        _timers.Set(new TimerSet(2, 30));
        _timers.Set(new TimerSet(3, 30));
        foreach (ulong timer in new ulong[] { 1, 2, 3 }) Assert.True(_timers.TryTake(30, out _));
        _timers.Drop(2);
        _timers.Set(new TimerSet(3, 70));
        foreach (ulong timer in new ulong[] { 1, 2, 3 }) _timers.GiveBack(new TimerFiredRecord(timer, 30));

        Assert.Equal([(1, 30)], Due(30));
        Assert.Equal(70, _timers.FirstDue);
    }

    [Fact]
    public void Clear_ForgetsTheSessionBefore()
    {
        _timers.Set(new TimerSet(1, 30));
        _timers.Clear();

        Assert.Null(_timers.FirstDue);
        Assert.Equal([], Due(100));
    }

    [Fact]
    public void Set_BeyondTheLimit_IsMalformed()
    {
        for (ulong timer = 1; timer <= PendingTimers.WaitingMax; timer++) _timers.Set(new TimerSet(timer, (long)timer));
        _timers.Set(new TimerSet(7, 3));

        Assert.Equal("P5.14", Assert.Throws<ProtocolViolation>(() => _timers.Set(new TimerSet(PendingTimers.WaitingMax + 1, 1))).Section);
    }

    /// <summary>
    /// Against the plainest model there is, with so many replacements that stale entries must have been thrown out in between.
    /// </summary>
    [Fact]
    public void Random_SetsDropsAndTakes_AgreeWithAModel() => Made.Seeds(40, static random =>
    {
        var timers = new PendingTimers();
        var model = new SortedDictionary<ulong, (long Due, bool Logged)>();
        for (int step = 0; step < 4000; step++)
        {
            ulong timer = (ulong)random.Next(1, 40);
            switch (random.Next(4))
            {
                case 0: timers.Drop(timer); model.Remove(timer); break;
                case 1 when random.Chance(10):
                    long now = random.Next(1000);
                    (ulong, long)[] expected = [.. model.Where(each => !each.Value.Logged && each.Value.Due <= now)
                        .OrderBy(static each => (each.Value.Due, each.Key)).Select(static each => (each.Key, each.Value.Due))];
                    foreach ((ulong number, long dueUs) in expected)
                    {
                        Assert.True(timers.TryTake(now, out TimerFiredRecord fired));
                        Assert.Equal(new TimerFiredRecord(number, dueUs), fired);
                        model[number] = (dueUs, true);
                    }
                    Assert.False(timers.TryTake(now, out _));
                    break;
                default:
                    long due = random.Next(1000);
                    timers.Set(new TimerSet(timer, due));
                    if (!model.TryGetValue(timer, out (long Due, bool Logged) before) || before.Due != due) model[timer] = (due, false);
                    break;
            }
            Assert.Equal(model.Count, timers.Count);
            Assert.Equal(model.Values.Where(static each => !each.Logged).Select(static each => (long?)each.Due).Min(), timers.FirstDue);
        }
    });
}
