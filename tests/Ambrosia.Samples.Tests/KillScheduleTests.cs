using HelloWorld.Orchestration;

namespace Ambrosia.Samples.Tests;

public sealed class KillScheduleTests
{
    [Fact]
    public void Schedule_SameSeed_IsTheSame()
    {
        Assert.Equal(KillSchedule.Of(5, 40, 100_000), KillSchedule.Of(5, 40, 100_000));
        Assert.NotEqual(KillSchedule.Of(5, 40, 100_000), KillSchedule.Of(6, 40, 100_000));
    }

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    public void Schedule_SixtyKills_HasEveryKindEquallyOften(int seed)
    {
        Dictionary<KillTarget, int> counts = KillSchedule.Of(seed, 60, 100_000).CountBy(static kill => kill.Target).ToDictionary();

        foreach (KillTarget one in new[] { KillTarget.ClientApp, KillTarget.ClientCoordinator, KillTarget.ServerApp,
            KillTarget.ServerCoordinator, KillTarget.Everything })
            Assert.Equal(10, counts[one]);
        Assert.Equal(10, counts.GetValueOrDefault(KillTarget.ClientBoth) + counts.GetValueOrDefault(KillTarget.ServerBoth));
    }

    [Fact]
    public void Schedule_AnySeed_StaysWithinTheCallsAndInOrder()
    {
        for (int seed = 0; seed < 100; seed++)
        {
            IReadOnlyList<PlannedKill> plan = KillSchedule.Of(seed, 30, 1_000);
            Assert.All(plan, static kill => Assert.InRange(kill.AfterCalls, 0, 1_000));
            Assert.Equal(plan.Select(static kill => kill.AfterCalls).Order(), plan.Select(static kill => kill.AfterCalls));
        }
    }

    [Fact]
    public void Recoveries_KilledAgainMeanwhile_AreOne()
    {
        var recoveries = new Recoveries();
        recoveries.Killed(TimeSpan.FromSeconds(1));
        recoveries.Killed(TimeSpan.FromSeconds(2));
        Assert.True(recoveries.IsRecovering);
        recoveries.Back(TimeSpan.FromSeconds(4));
        recoveries.Killed(TimeSpan.FromSeconds(5));
        recoveries.Back(TimeSpan.FromSeconds(6));

        Assert.Equal(2, recoveries.Count);
        Assert.Equal(TimeSpan.FromSeconds(1), recoveries.Last);
        Assert.Equal(TimeSpan.FromSeconds(3), recoveries.Longest);
    }
}
