using Ambrosia.Calls;
using static Ambrosia.Binding.Tests.FakeCoordinator;

namespace Ambrosia.Binding.Tests;

public sealed class ReplayContextTests
{
    private const long Noon = 1_700_000_000_000_000;

    private static FakeCoordinator Begun(Guid? uuid = null)
    {
        var coordinator = new FakeCoordinator(ImmortalDefinition.Of<Almanac>()) { InstanceUuid = uuid ?? Uuid };
        coordinator.Welcome();
        coordinator.DeliverWith(0, Noon, FirstStart(), Peer(1, "bank2"), Peer(2, "bank3"));
        return coordinator;
    }

    [Fact]
    public void Now_IsTheTimeOfTheRecordsPage_AndNeverFalls()
    {
        FakeCoordinator coordinator = Begun();
        coordinator.DeliverWith(0, Noon + 5, Fork(1), Fork(1));
        coordinator.DeliverWith(0, Noon + 1, Fork(1));
        coordinator.DeliverWith(0, Noon + 7_000_000, Fork(1));

        string[] times = [.. coordinator.Immortal<Almanac>().Seen.Select(static line => line.Split(' ')[0])];
        Assert.Equal(
            ["2023-11-14T22:13:20.0000000+00:00", "2023-11-14T22:13:20.0000050+00:00", "2023-11-14T22:13:20.0000050+00:00",
                "2023-11-14T22:13:20.0000050+00:00", "2023-11-14T22:13:27.0000000+00:00"],
            times);
    }

    [Fact]
    public void Handlers_ExecutedAgain_SeeTheSame()
    {
        FakeCoordinator first = Begun(), second = Begun();
        foreach (FakeCoordinator each in new[] { first, second }) each.DeliverWith(0, Noon + 9, Fork(1), Fork(1), Fork(2), Fork(1));

        Assert.Equal(first.Immortal<Almanac>().Seen, second.Immortal<Almanac>().Seen);
        Assert.Equal(first.Immortal<Almanac>().Seen.Count, first.Immortal<Almanac>().Seen.Distinct().Count());
    }

    [Fact]
    public void Handlers_OfAnotherInstance_SeeOtherRandomness()
    {
        FakeCoordinator first = Begun(), other = Begun(new Guid(9, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11));

        Assert.NotEqual(first.Immortal<Almanac>().Seen[0].Split(' ')[1..], other.Immortal<Almanac>().Seen[0].Split(' ')[1..]);
    }

    /// <summary>
    /// The sequence is for ever: a change of it would make every log diverge that used it. Computed by another
    /// implementation of xoshiro256**.
    /// </summary>
    [Fact]
    public void Randomness_OfThisVersion_IsThatOfEveryVersion() => Assert.Equal(
        ["2023-11-14T22:13:20.0000000+00:00 1e2616ff-80ae-40ff-a5dd-b6806a59b92e 1132555751 1 -4 0.07612440675602816"],
        Begun().Immortal<Almanac>().Seen);

    [Fact]
    public void Restore_ThenGoOn_SeesWhatTheOriginalSees()
    {
        FakeCoordinator first = Begun();
        first.DeliverWith(0, Noon + 20, Fork(2), Fork(1), Mark());
        FakeCoordinator second = new(ImmortalDefinition.Of<Almanac>());
        second.Welcome(first.Image, first.Next.Value);

        foreach (FakeCoordinator each in new[] { first, second }) each.DeliverWith(0, Noon + 10, Fork(1), Fork(2), Fork(1), Mark());

        Almanac was = first.Immortal<Almanac>(), now = second.Immortal<Almanac>();
        Assert.Equal(was.Seen, now.Seen);
        // the same object before and after
        Assert.Equal(2, now.Seen.Count(static line => line.StartsWith("kept", StringComparison.Ordinal)));
        Assert.Equal(first.Image, second.Image);
    }

    [Fact]
    public void ReplayContext_OutsideOfHandlers_AreRefused()
    {
        Almanac almanac = Begun().Immortal<Almanac>();

        Assert.Contains("for its handlers", Assert.Throws<BindingMisuseException>(() => almanac.NowOutside).Message,
            StringComparison.Ordinal);
        Assert.Throws<BindingMisuseException>(() => almanac.GuidOutside);
        Assert.Throws<BindingMisuseException>(() => almanac.RandomOutside);
    }

    [Fact]
    public void Random_TakenOutOfAHandler_IsRefused()
    {
        FakeCoordinator coordinator = Begun();
        coordinator.Deliver(Fork(2));

        Assert.Contains("for its handlers",
            Assert.Throws<BindingMisuseException>(() => coordinator.Immortal<Almanac>().Kept!.Next()).Message, StringComparison.Ordinal);
    }

    [Fact]
    public void Logger_BeforePrimary_IsSilentAndPutsNothingTogether()
    {
        FakeCoordinator coordinator = Begun();
        coordinator.Deliver(Fork(3, "replayed"));
        Assert.Empty(coordinator.Logged);
        Assert.Equal(0, coordinator.Immortal<Almanac>().Formatted);

        coordinator.BecomePrimary();
        coordinator.Deliver(Fork(3, "live"));

        Assert.Equal(["Information live text", "Warning plain"], coordinator.Logged);
    }

    [Fact]
    public void Logger_ThatLogsReplay_SaysAll()
    {
        var coordinator = new FakeCoordinator(ImmortalDefinition.Of<Almanac>(), logsDuringReplay: true);
        coordinator.Welcome();
        coordinator.Deliver(FirstStart(), Peer(1, "bank2"), Fork(3, "replayed"));

        Assert.Equal(["Information replayed text", "Warning plain"], coordinator.Logged);
    }

    [Theory]
    [InlineData(1)]
    [InlineData(3)]
    [InlineData(1000)]
    public void ReplayedRandom_BoundedDraws_AreUniform(int limit)
    {
        const int Draws = 20_000;
        var counts = new int[Math.Min(limit, 10)];
        var random = new ReplayedRandom(1, 2, 3, 4);
        RunAsHandler(() =>
        {
            for (int i = 0; i < Draws; i++) counts[(int)((long)random.Next(limit) * counts.Length / limit)]++;
        });

        int expected = Draws / counts.Length;
        Assert.All(counts, count => Assert.InRange(count, expected * 9 / 10, expected * 11 / 10));
    }

    [Fact]
    public void ReplayedRandom_AtTheEdges_StaysWithin() => RunAsHandler(() =>
    {
        var random = new ReplayedRandom(5, 6, 7, 8);
        Assert.Equal(0, random.Next(0));
        Assert.Equal(7, random.Next(7, 7));
        for (int i = 0; i < 1000; i++)
        {
            Assert.InRange(random.NextInt64(long.MinValue, long.MaxValue), long.MinValue, long.MaxValue - 1);
            Assert.InRange(random.NextInt64(), 0, long.MaxValue - 1);
            Assert.InRange(random.Next(int.MinValue, int.MaxValue), int.MinValue, int.MaxValue - 1);
            Assert.InRange(random.NextDouble(), 0, 0.9999999999999999);
            Assert.InRange(random.NextSingle(), 0, 0.99999994f);
        }
        Assert.Throws<ArgumentOutOfRangeException>(() => random.Next(-1));
        Assert.Throws<ArgumentOutOfRangeException>(() => random.Next(2, 1));
        Assert.Throws<ArgumentOutOfRangeException>(() => random.NextInt64(2, 1));
    });

    private static void RunAsHandler(Action body)
    {
        using (new Scheduler(null!).Enter()) body();
    }
}
