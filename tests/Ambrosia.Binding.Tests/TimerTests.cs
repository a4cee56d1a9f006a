using Ambrosia.Protocol.Frames;
using static Ambrosia.Binding.Tests.FakeCoordinator;

namespace Ambrosia.Binding.Tests;

public sealed class TimerTests
{
    private readonly FakeCoordinator _coordinator = Begun();

    private Clock Clock => _coordinator.Immortal<Clock>();

    private static FakeCoordinator Begun()
    {
        var begun = new FakeCoordinator(ImmortalDefinition.Of<Clock>());
        begun.Welcome();
        begun.DeliverWith(0, 1000, FirstStart(), Peer(1, "bank2"), Peer(2, "bank3"));
        begun.Said.Clear();
        return begun;
    }

    private static FakeCoordinator Restored(FakeCoordinator from)
    {
        var restored = new FakeCoordinator(ImmortalDefinition.Of<Clock>());
        restored.Welcome(from.Image, from.Next.Value);
        return restored;
    }

    private string[] Timers() => [.. _coordinator.Said.Where(static line => line.StartsWith("timer", StringComparison.Ordinal))];

    [Fact]
    public void Delay_IsSetAtTheTimeOfItsRecord_AndDoneByItsOwn()
    {
        _coordinator.DeliverWith(0, 2000, Fork(1, "a", 500));
        Assert.Equal(["timer 1 due 2500"], Timers());
        Assert.Empty(Clock.Seen);

        _coordinator.DeliverWith(0, 2600, Fired(1, 2500));

        Assert.Equal(["a@2600"], Clock.Seen);
        Assert.Equal(["timer 1 due 2500", "timer 1 dropped"], Timers());
    }

    /// <summary>What nobody waits for any more is no timer any more: not in the table, not at the coordinator, not in an image.</summary>
    [Theory]
    [InlineData("cancel", nameof(OperationCanceledException))]
    [InlineData("within", nameof(TimeoutException))]
    [InlineData("both", nameof(OperationCanceledException))]
    public void Delay_GivenUp_DropsItsTimerAndSaysWhyToWhoAwaitsItAgain(string how, string why)
    {
        _coordinator.DeliverWith(0, 2000, Fork(7, how, 1_000_000, 500), Mark(bound: 1));
        FakeCoordinator restored = Restored(_coordinator);
        foreach (FakeCoordinator each in new[] { _coordinator, restored })
        {
            each.Said.Clear();
            if (how == "within") each.DeliverWith(0, 2600, Fired(2, 2500));
            else each.DeliverWith(0, 2600, Fork(8));
            Assert.Equal([$"{why}@2600", $"again {why}@2600"], each.Immortal<Clock>().Seen);
            Assert.Contains("timer 1 dropped", each.Said);
            if (how == "both") Assert.Contains("timer 2 dropped", each.Said);
            each.DeliverWith(0, 2_000_000, Fired(1, 1_002_000)); // logged before it was dropped
            Assert.Equal(1, each.Session.IgnoredTimers);
            Assert.Equal(2, each.Immortal<Clock>().Seen.Count);
        }
        foreach (FakeCoordinator each in new[] { _coordinator, restored }) each.Deliver(Mark());
        Assert.Equal(_coordinator.Image, restored.Image);
    }

    /// <summary>Whoever is in time has what was waited for, and the deadline's timer is gone.</summary>
    [Fact]
    public void Delay_DoneInTime_LeavesNoTimer()
    {
        _coordinator.DeliverWith(0, 2000, Fork(7, "both", 100, 500));
        _coordinator.DeliverWith(0, 2200, Fired(1, 2100));
        Assert.Equal("over@2200", Clock.Seen[0]);
        Assert.Contains("timer 2 dropped", Timers());
    }

    /// <summary>
    /// A clock that was set back between the append and the seal of its page: the handler still sees a time that is not before.
    /// </summary>
    [Fact]
    public void Fired_InAPageBeforeItsDueTime_MovesNowOn()
    {
        _coordinator.DeliverWith(0, 2000, Fork(1, "a", 500));
        _coordinator.DeliverWith(0, 2100, Fired(1, 2500), Fork(5));

        Assert.Equal(["a@2500", "kept True ticking False@2500"], Clock.Seen);
    }

    [Fact]
    public void Delays_FireInTheOrderOfTheLog()
    {
        _coordinator.DeliverWith(0, 2000, Fork(1, "a", 500), Fork(1, "b", 100));
        _coordinator.DeliverWith(0, 3000, Fired(1, 2500), Fired(2, 2100));

        Assert.Equal(["a@3000", "b@3000"], Clock.Seen);
    }

    /// <summary>A session that ended and the next one may each have logged it; only the first record counts, on every replica.</summary>
    [Fact]
    public void Fired_Again_IsIgnoredAndCounted()
    {
        _coordinator.DeliverWith(0, 2000, Fork(1, "a", 500));
        _coordinator.DeliverWith(0, 3000, Fired(1, 2500), Fired(1, 2500));

        Assert.Equal(["a@3000"], Clock.Seen);
        Assert.Equal(1, _coordinator.Session.IgnoredTimers);
    }

    [Theory]
    [InlineData(2)]
    [InlineData(0)]
    public void Fired_OfATimerThatWasNeverSet_IsADivergence(ulong timer)
    {
        _coordinator.DeliverWith(0, 2000, Fork(1, "a", 500));
        _coordinator.DeliverWith(0, 3000, Fired(timer, 2500));

        Assert.Equal(GoodbyeCode.Divergence, _coordinator.Session.End!.Code);
        Assert.Contains("L5.11", _coordinator.Session.End.Why, StringComparison.Ordinal);
    }

    [Fact]
    public void Every_CallsItsMethodAgainAndAgain_OnItsOwnMultiples()
    {
        _coordinator.DeliverWith(0, 2000, Fork(2, "plain", 5000));
        _coordinator.DeliverWith(0, 7100, Fired(1, 7000));
        _coordinator.DeliverWith(0, 12_000, Fired(1, 12_000));

        Assert.Equal(["tick@7100", "tick@12000"], Clock.Seen);
        Assert.Equal(
            ["timer 1 due 7000", "timer 1 dropped", "timer 1 due 12000", "timer 1 dropped", "timer 1 due 17000"], Timers());
    }

    [Fact]
    public void Every_AfterALongAbsence_SkipsWhatPassed()
    {
        _coordinator.DeliverWith(0, 2000, Fork(2, "plain", 5000));
        _coordinator.DeliverWith(0, 20_000, Fired(1, 7000));

        Assert.Equal(["tick@20000"], Clock.Seen);
        Assert.Equal("timer 1 due 22000", Timers()[^1]);
    }

    /// <summary>A record of the period before is not one of this period.</summary>
    [Fact]
    public void Every_FiredWithTheDueTimeBefore_IsIgnored()
    {
        _coordinator.DeliverWith(0, 2000, Fork(2, "plain", 5000));
        _coordinator.DeliverWith(0, 7000, Fired(1, 7000), Fired(1, 7000), Fired(1, 12_000));

        Assert.Equal(2, Clock.Seen.Count);
        Assert.Equal(1, _coordinator.Session.IgnoredTimers);
    }

    [Fact]
    public void Every_HandlerIsSuspended_TicksOnBehindIt()
    {
        _coordinator.DeliverWith(0, 2000, Fork(2, "slow", 5000));
        _coordinator.DeliverWith(0, 7000, Fired(1, 7000));
        Assert.Equal("timer 1 dropped", Timers()[^1]);

        _coordinator.DeliverWith(0, 30_000, Result(1, 1, 1));

        Assert.Equal(["begin@7000", "end@30000"], Clock.Seen);
        Assert.Equal("timer 1 due 32000", Timers()[^1]);
    }

    [Fact]
    public void Every_HandlerFails_IsCountedAndGoesOn()
    {
        _coordinator.DeliverWith(0, 2000, Fork(2, "failing", 5000));
        _coordinator.DeliverWith(0, 7000, Fired(1, 7000), Fired(2, 7000));

        Assert.Equal(1, _coordinator.Session.FailedForks);
        Assert.Contains(_coordinator.Lines,
            static line => line.Contains("Clock.TickFails", StringComparison.Ordinal)
                && line.Contains("tick failed", StringComparison.Ordinal));
        Assert.Equal("timer 1 due 12000", Timers()[^1]);
    }

    [Fact]
    public void Stop_DropsTheTimer_AndALateRecordHasNoEffect()
    {
        _coordinator.DeliverWith(0, 2000, Fork(2, "plain", 5000));
        _coordinator.DeliverWith(0, 3000, Fork(3), Fork(3), Fired(1, 7000), Fork(5));

        Assert.Equal(["timer 1 due 7000", "timer 1 dropped"], Timers());
        Assert.Equal(["kept True ticking False@7000"], Clock.Seen);
        Assert.Equal(1, _coordinator.Session.IgnoredTimers);
    }

    [Fact]
    public void Stop_WhileItsHandlerIsSuspended_LetsItFinish()
    {
        _coordinator.DeliverWith(0, 2000, Fork(2, "slow", 5000));
        _coordinator.DeliverWith(0, 7000, Fired(1, 7000), Fork(3), Result(1, 1, 1), Mark());

        Assert.Equal(["begin@7000", "end@7000"], Clock.Seen);
        Assert.Equal(["timer 1 due 7000", "timer 1 dropped"], Timers());
        _coordinator.Said.Clear();
        Assert.DoesNotContain(Restored(_coordinator).Said, static line => line.StartsWith("timer", StringComparison.Ordinal));
    }

    [Theory]
    [InlineData("lambda", 5000, "not a method of the immortal")]
    [InlineData("static", 5000, "not a method of the immortal")]
    [InlineData("foreign", 5000, "not a method of the immortal")]
    [InlineData("plain", 999, "period")]
    public void Every_WithWhatCannotLast_IsRefused(string how, long us, string expected)
    {
        _coordinator.DeliverWith(0, 2000, Fork(2, how, us));

        Assert.Contains(expected, Clock.Refused, StringComparison.Ordinal);
        Assert.Empty(Timers());
    }

    [Fact]
    public void Timers_OutsideOfHandlers_AreRefused() => Assert.Throws<BindingMisuseException>(() => Clock.DelayOutside());

    [Fact]
    public void Delay_Negative_FailsTheHandler()
    {
        _coordinator.DeliverWith(0, 2000, Fork(1, "a", -1));

        Assert.Equal(1, _coordinator.Session.FailedForks);
        Assert.Empty(Timers());
    }

    [Fact]
    public void Timers_MoreThanTheLimit_FailTheHandlerThatSetsThem()
    {
        _coordinator.DeliverWith(0, 2000, Fork(6, 1 << 20));
        Assert.Equal(0, _coordinator.Session.FailedForks);

        _coordinator.DeliverWith(0, 2000, Fork(6, 1));

        Assert.Equal(1, _coordinator.Session.FailedForks);
        Assert.Contains("There are 1048576 timers already", Assert.Single(_coordinator.Lines), StringComparison.Ordinal);
    }

    /// <summary>Behind an image the coordinator knows nothing: the app says every timer that waits, before anything else.</summary>
    [Fact]
    public void Restore_SaysEveryTimerAgain_AndGoesOnTheSame()
    {
        _coordinator.DeliverWith(0, 2000, Fork(4, 700), Fork(2, "plain", 5000), Mark());
        FakeCoordinator second = Restored(_coordinator);
        Assert.Equal(["timer 1 due 2700", "timer 2 due 7000"],
            second.Said.Where(static line => line.StartsWith("timer", StringComparison.Ordinal)));
        _coordinator.Said.Clear();
        second.Said.Clear();
        int seen = Clock.Seen.Count;

        foreach (FakeCoordinator each in new[] { _coordinator, second })
        {
            each.DeliverWith(0, 2700, Fired(1, 2700), Fork(5));
            each.DeliverWith(0, 7000, Fired(2, 7000), Fork(1, "later", 10), Mark());
        }

        Assert.Equal(_coordinator.Said.Where(static line => !line.StartsWith("destination", StringComparison.Ordinal)),
            second.Said.Where(static line => !line.StartsWith("destination", StringComparison.Ordinal)));
        Assert.Equal(["kept True ticking True@2700", "tick@7000"], second.Immortal<Clock>().Seen[seen..]);
        Assert.Equal(["timer 1 dropped", "timer 2 dropped", "timer 2 due 12000", "timer 3 due 7010"], Timers());
    }
}
