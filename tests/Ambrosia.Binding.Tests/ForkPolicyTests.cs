using Ambrosia.Failures;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Records;
using Ambrosia.Protocol.Runs;
using Ambrosia.Quarantine;
using static Ambrosia.Binding.Tests.FakeCoordinator;

namespace Ambrosia.Binding.Tests;

/// <summary>What becomes of forks and impulses whose handlers throw (log-format L5.12, L5.13).</summary>
public sealed class ForkPolicyTests
{
    private readonly FakeCoordinator _coordinator = Started<Picky>();

    private Picky Picky => _coordinator.Immortal<Picky>();

    private static byte[] Policy(ForkPolicy forks) => RecordKinds.EncodeWhole(PolicyRecord.Default with { Forks = forks });

    private static byte[] Decision(MessagePlace place, QuarantineAction action = QuarantineAction.SetAside) =>
        RecordKinds.EncodeWhole(new QuarantineRecord(place, action));

    /// <summary>Delivers a record and says where it stands.</summary>
    private MessagePlace Deliver(byte[] record, uint index = 0)
    {
        var place = new MessagePlace(_coordinator.Next, index);
        _coordinator.Deliver(record);
        return place;
    }

    private static IEnumerable<string> Frames(FakeCoordinator from) =>
        from.Said.Where(
            static line => line.StartsWith("set aside", StringComparison.Ordinal) || line.StartsWith("released", StringComparison.Ordinal));

    [Fact]
    public void Fork_ThrowsWithoutAnyPolicy_IsCounted()
    {
        _coordinator.Deliver(Fork(1, "a"));

        Assert.Equal((1, 0), (_coordinator.Session.FailedForks, _coordinator.Session.MessagesSetAside));
        Assert.Null(_coordinator.Session.End);
    }

    [Fact]
    public void Fork_ThrowsUnderStop_EndsTheAppWithPlaceMethodAndException()
    {
        _coordinator.Deliver(Policy(ForkPolicy.Stop));
        MessagePlace place = Deliver(Run(MessageKind.Fork, 1, (3, 0, []), (1, 0, Cbor.Of("a")), (1, 0, Cbor.Of("b"))));

        Assert.Null(_coordinator.Session.End); // it forgives
        FakeCoordinator strict = Started<Picky>();
        strict.Deliver(Policy(ForkPolicy.Stop));
        place = new MessagePlace(strict.Next, 1);
        strict.Deliver(Run(MessageKind.Fork, 1, (99, 0, []), (1, 0, Cbor.Of("b"))));
        SessionEnd end = strict.Session.End!;
        Assert.Equal((GoodbyeCode.AppFailed, false), (end.Code, end.ByCoordinator));
        Assert.Contains($"{new MessagePlace(place.Record, 0)} of bank2", end.Why); // an unknown method is a failure like any other
        Assert.Contains("method 0x63", end.Why);
    }

    /// <summary>Whoever looks for the message need not execute the record again (protocol P5.20).</summary>
    [Fact]
    public void Fork_ThatEndsTheApp_IsSaidToBeExecutedBeforeTheEnd()
    {
        FakeCoordinator strict = Started<Picky>();
        strict.Deliver(Policy(ForkPolicy.Stop));
        var place = new MessagePlace(strict.Next, 2);
        strict.Deliver(Run(MessageKind.Fork, 1, (3, 0, []), (1, 0, Cbor.Of("a")), (99, 0, []), (1, 0, Cbor.Of("b"))));
        Assert.Equal($"executing {place}", strict.Said[^2]);
        Assert.StartsWith("goodbye AppFailed: ", strict.Said[^1], StringComparison.Ordinal);
    }

    [Fact]
    public void Stop_SaysMethodCallerAndException()
    {
        _coordinator.Deliver(Policy(ForkPolicy.Stop));
        MessagePlace place = Deliver(Fork(1, "a"));

        Assert.Equal(
            $"Picky.Take threw at message {place} of bank2 and the fork policy is to stop; a coordinator started with another --fork-policy lets the app go on: System.InvalidOperationException: no a",
            _coordinator.Session.End!.Why);
        // the stack
        Assert.Contains(_coordinator.Lines, line => line.Contains("at Ambrosia.Binding.Tests.Picky.Take", StringComparison.Ordinal));
    }

    /// <summary>Stopped once, it stops again wherever it is replayed, until the log holds a policy that lets it go on.</summary>
    [Theory]
    [InlineData(ForkPolicy.Continue, 1, 0)]
    [InlineData(ForkPolicy.Quarantine, 0, 1)]
    public void Stop_WithALaterPolicyAhead_IsGovernedByThatOne(ForkPolicy later, int counted, int setAside)
    {
        _coordinator.Deliver(Policy(ForkPolicy.Stop));
        _coordinator.Send(new PolicyAhead([new PolicyChange(new Lsn(_coordinator.Next.Value + 10_000), later)]));
        _coordinator.Deliver(Fork(1, "a"));

        Assert.Null(_coordinator.Session.End);
        Assert.Equal((counted, setAside), (_coordinator.Session.FailedForks, _coordinator.Session.MessagesSetAside));
    }

    [Fact]
    public void Stop_WithOnlyEarlierPoliciesKnown_Stops()
    {
        _coordinator.Deliver(Policy(ForkPolicy.Stop));
        _coordinator.Send(new PolicyAhead([new PolicyChange(new Lsn(_coordinator.Next.Value - 1), ForkPolicy.Continue)]));
        _coordinator.Deliver(Fork(1, "a"));

        Assert.NotNull(_coordinator.Session.End);
    }

    [Fact]
    public void Quarantine_ForkThrows_IsKeptAndWhatItDidStays()
    {
        _coordinator.Deliver(Policy(ForkPolicy.Quarantine));
        MessagePlace place = Deliver(Run(MessageKind.Fork, 1, (1, 0, Cbor.Of("a")), (1, 0, Cbor.Of("b"))));

        Assert.Equal(["a", "b"], Picky.Taken);
        Assert.Equal(
            [$"set aside {place} as 1 of bank2, Fork 1, 2 bytes, try 1: System.InvalidOperationException: no a",
                $"set aside {place.Record.Value}:1 as 2 of bank2, Fork 1, 2 bytes, try 1: System.InvalidOperationException: no b"],
            Frames(_coordinator));
        Assert.Equal((0, 2), (_coordinator.Session.FailedForks, _coordinator.Session.MessagesSetAside));
    }

    [Fact]
    public void Quarantine_UnknownMethodAndUndecodableArguments_AreKept()
    {
        _coordinator.Deliver(Policy(ForkPolicy.Quarantine), Fork(99, 1), Run(MessageKind.Fork, 1, (1, 0, [0xFF])),
            Run(MessageKind.Impulse, 0, (1, 0, Cbor.Of("i"))));

        Assert.Equal(3, _coordinator.Session.MessagesSetAside);
        Assert.Contains("Impulse", Frames(_coordinator).Last());
    }

    /// <summary>
    /// Impulses of callers outside, with and without keys: set aside like any other; a key stays known, so a second one with it does not
    /// act, also after a retry.
    /// </summary>
    [Theory]
    [InlineData(null)]
    [InlineData("k")]
    public void Quarantine_ImpulseOfACaller_IsKeptAndTriedAgainOnce(string? key)
    {
        _coordinator.Deliver(Policy(ForkPolicy.Quarantine));
        MessagePlace place = Deliver(Request(0, key, 1, "a"));
        _coordinator.Deliver(Request(0, key, 1, "a"));
        int kept = key is null ? 2 : 1;
        Assert.Equal(kept, _coordinator.Session.MessagesSetAside);
        Assert.Equal(kept, Picky.Taken.Count);

        _coordinator.Deliver(RecordKinds.EncodeWhole(new QuarantineRecord(place, QuarantineAction.SetAside)), Fork(3),
            RecordKinds.EncodeWhole(new QuarantineRecord(place, QuarantineAction.Retry)), Request(0, key, 1, "a"));
        Assert.Equal((kept - 1, key is null ? 4 : 2), (_coordinator.Session.MessagesSetAside, Picky.Taken.Count));
        Assert.Contains(Frames(_coordinator), line => line == $"released {place}");
    }

    /// <summary>
    /// Whoever asked is told, so a request is never set aside; nor is an impulse with a key that somebody asks for meanwhile: it is set
    /// aside, and who asks is told.
    /// </summary>
    [Fact]
    public void Quarantine_RequestOfACaller_FailsAsEver()
    {
        _coordinator.Deliver(Policy(ForkPolicy.Quarantine), Request(1, null, 1, "a"), Request(2, "k", 1, "b"));
        Assert.Equal((0, 0), (_coordinator.Session.FailedForks, _coordinator.Session.MessagesSetAside));
        _coordinator.Deliver(Request(0, "i", 1, "c"), Request(3, "i", 1, "c"));
        Assert.Equal(1, _coordinator.Session.MessagesSetAside);
        Assert.Equal(3, _coordinator.Said.Count(static line => line.StartsWith("clientfailure", StringComparison.Ordinal)));
    }

    [Theory]
    [InlineData(null)]
    [InlineData("k")]
    public void Stop_ImpulseOfACaller_EndsTheApp(string? key)
    {
        _coordinator.Deliver(Policy(ForkPolicy.Stop), Request(0, key, 1, "a"));
        Assert.Contains("Picky.Take threw", _coordinator.Session.End!.Why, StringComparison.Ordinal);
    }

    /// <summary>A periodic handler: nothing called it, so there is nothing to set aside; under stop the app ends and names it.</summary>
    [Theory]
    [InlineData(ForkPolicy.Continue, 1)]
    [InlineData(ForkPolicy.Quarantine, 1)]
    [InlineData(ForkPolicy.Stop, 0)]
    public void PeriodicHandler_Throws_IsCountedOrEndsTheApp(ForkPolicy policy, int counted)
    {
        FakeCoordinator clock = Started<Clock>();
        clock.Deliver(Policy(policy));
        clock.DeliverWith(0, 2000, Fork(2, "failing", 1000));
        clock.DeliverWith(0, 3000, Fired(1, 3000));
        clock.DeliverWith(0, 3100, Fired(2, 3000));
        Assert.Equal((counted, 0), ((int)clock.Session.FailedForks, clock.Session.MessagesSetAside));
        if (policy == ForkPolicy.Stop) Assert.Contains("Clock.TickFails threw", clock.Session.End!.Why, StringComparison.Ordinal);
        else Assert.Contains(clock.Said, static line => line.StartsWith("timer 1 due", StringComparison.Ordinal)); // it goes on
    }

    /// <summary>The caller of a call is told, whatever the policy.</summary>
    [Theory]
    [InlineData(ForkPolicy.Stop)]
    [InlineData(ForkPolicy.Quarantine)]
    public void Call_Throws_FailsAsEver(ForkPolicy policy)
    {
        _coordinator.Deliver(Policy(policy), Call(1, 7, "a"));

        Assert.Contains(_coordinator.Said, static line => line.StartsWith("failure bank2 1 #7", StringComparison.Ordinal));
        Assert.Equal((0, 0), (_coordinator.Session.FailedForks, _coordinator.Session.MessagesSetAside));
        Assert.Null(_coordinator.Session.End);
    }

    [Theory]
    [InlineData(QuarantineAction.Retry, 3)]
    [InlineData(QuarantineAction.Drop, 1)]
    public void Decision_RetryOrDrop_IsDoneAtItsPlace(QuarantineAction action, int taken)
    {
        _coordinator.Deliver(Policy(ForkPolicy.Quarantine));
        MessagePlace place = Deliver(Fork(1, "a"));
        _coordinator.Deliver(Decision(place));
        _coordinator.Deliver(Decision(place, action)); // tried again it throws again, and stays
        _coordinator.Deliver(Fork(3), Decision(place, QuarantineAction.SetAside));
        if (action == QuarantineAction.Drop)
        {
            Assert.Equal(GoodbyeCode.Divergence, _coordinator.Session.End!.Code); // the log says what this execution did not do
            return;
        }
        _coordinator.Deliver(Decision(place, action));
        Assert.Equal(taken, Picky.Taken.Count);
        Assert.Equal([$"set aside {place} as 1 of bank2", $"set aside {place} as 2 of bank2", $"released {place}"],
            Frames(_coordinator).Select(static line => line.Split(',')[0]));
        Assert.Equal(0, _coordinator.Session.MessagesSetAside);
    }

    [Fact]
    public void Decision_OfAMessageThatIsNotKept_HasNoEffect()
    {
        _coordinator.Deliver(Policy(ForkPolicy.Quarantine), Decision(new MessagePlace(new Lsn(4), 0), QuarantineAction.Retry),
            Decision(new MessagePlace(new Lsn(4), 0), QuarantineAction.Drop));

        Assert.Empty(Frames(_coordinator));
        Assert.Null(_coordinator.Session.End);
    }

    [Fact]
    public void Decision_ThatThisExecutionDidNotTake_IsADivergence()
    {
        _coordinator.Deliver(Policy(ForkPolicy.Quarantine));
        MessagePlace place = Deliver(Fork(3));
        _coordinator.Deliver(Decision(place));

        Assert.Equal(GoodbyeCode.Divergence, _coordinator.Session.End!.Code);
        Assert.Contains("L5.12", _coordinator.Session.End.Why);
    }

    /// <summary>
    /// A secondary's decisions are its primary's; those that no record states yet are said again when it is primary itself.
    /// </summary>
    [Fact]
    public void BecomePrimary_DecisionsWithoutRecord_AreSaidToBeLogged()
    {
        _coordinator.Deliver(Policy(ForkPolicy.Quarantine));
        MessagePlace first = Deliver(Fork(1, "a")), second = Deliver(Fork(1, "b"));
        _coordinator.Deliver(Decision(first));
        _coordinator.Said.Clear();
        _coordinator.BecomePrimary();
        MessagePlace third = Deliver(Fork(1, "c"));

        Assert.Equal([$"set aside {second} as 2, unlogged,", $"set aside {third} as 3, unlogged,"],
            Frames(_coordinator).Select(static line => line.Split(" of bank2")[0]));
    }

    [Fact]
    public void Image_OfAQuarantine_HoldsItAndGoesOnTheSame()
    {
        _coordinator.Deliver(Policy(ForkPolicy.Quarantine));
        MessagePlace first = Deliver(Fork(1, "a")), second = Deliver(Fork(1, "b"));
        _coordinator.Deliver(Decision(first), Mark());
        ulong at = _coordinator.Next.Value;

        var restored = new FakeCoordinator(ImmortalDefinition.Of<Picky>());
        restored.Welcome(_coordinator.Image, at);
        Assert.Equal([$"set aside {first} as 1 of bank2", $"set aside {second} as 2 of bank2"],
            Frames(restored).Select(static line => line.Split(',')[0]));
        foreach (FakeCoordinator each in new[] { _coordinator, restored })
        {
            each.Said.Clear();
            each.Deliver(Fork(3), Decision(second), Decision(first, QuarantineAction.Retry), Fork(1, "c"), Mark());
        }
        Assert.Equal(_coordinator.Said, restored.Said);
        Assert.Equal(_coordinator.Image, restored.Image);
        Assert.Equal(1, restored.Session.MessagesSetAside);
    }

    [Fact]
    public void Quarantine_Full_StopsAtTheNext()
    {
        _coordinator.Deliver(Policy(ForkPolicy.Quarantine));
        for (int i = 0; i < QuarantinedMessages.MessagesMax; i++) _coordinator.Deliver(Fork(1, "a"));
        Assert.Null(_coordinator.Session.End);
        _coordinator.Deliver(Fork(1, "a"));

        Assert.Contains("the quarantine is full with 1000 messages", _coordinator.Session.End!.Why);
    }

    /// <summary>One message is always taken; beyond that bytes count.</summary>
    [Fact]
    public void Quarantine_OfManyBytes_TakesOneAndStopsAtTheNext()
    {
        _coordinator.Deliver(Policy(ForkPolicy.Quarantine));
        byte[] half = new byte[QuarantinedMessages.BytesMax / 2 + 1];
        _coordinator.Deliver(Run(MessageKind.Fork, 1, (4, 0, half)));
        Assert.Equal(1, _coordinator.Session.MessagesSetAside);
        _coordinator.Deliver(Run(MessageKind.Fork, 1, (4, 0, half)));

        Assert.Contains("the quarantine is full with 1 messages", _coordinator.Session.End!.Why);
    }

    /// <summary>A fork that fails behind an await is the message that it was.</summary>
    [Fact]
    public void Quarantine_ForkFailsBehindAnAwait_IsKeptWithItsArguments()
    {
        _coordinator.Deliver(Policy(ForkPolicy.Quarantine));
        MessagePlace place = Deliver(Fork(2, "later", "bank3"));
        _coordinator.Deliver(Result(3, 1, 2));
        Assert.StartsWith($"set aside {place} as 1 of bank2, Fork 2", Frames(_coordinator).Single(), StringComparison.Ordinal);

        _coordinator.Deliver(Decision(place), Fork(3), Decision(place, QuarantineAction.Retry), Result(3, 2, 2));
        Assert.Equal(["later", "later"], Picky.Taken);
        Assert.Equal(0, _coordinator.Session.MessagesSetAside);
    }

    [Fact]
    public void Stop_ForkFailsBehindAnAwait_EndsTheApp()
    {
        _coordinator.Deliver(Policy(ForkPolicy.Stop));
        _coordinator.Deliver(Fork(2, "later", "bank3"), Result(3, 1, 2));

        Assert.Contains("Picky.TakeLater threw at message of the record at", _coordinator.Session.End!.Why);
    }

    [Theory]
    [InlineData(ForkPolicy.Continue)]
    [InlineData(ForkPolicy.Stop)]
    [InlineData(ForkPolicy.Quarantine)]
    public void OutOfMemory_IsACrashWhateverThePolicy(ForkPolicy policy)
    {
        _coordinator.Deliver(Policy(policy));

        Assert.Throws<OutOfMemoryException>(() => _coordinator.Deliver(Fork(1, "memory")));
    }

    /// <summary>
    /// The compiler gives whatever an async method throws to its builder, and what is no failure of a handler must not become one there.
    /// </summary>
    [Theory]
    [InlineData(ForkPolicy.Continue)]
    [InlineData(ForkPolicy.Stop)]
    [InlineData(ForkPolicy.Quarantine)]
    public void OutOfMemory_BehindAnAwait_IsACrashWhateverThePolicy(ForkPolicy policy)
    {
        _coordinator.Deliver(Policy(policy));
        _coordinator.Deliver(Fork(2, "memory", "bank3"));

        Assert.Throws<OutOfMemoryException>(() => _coordinator.Deliver(Result(3, 1, 2)));
        Assert.Equal(0, _coordinator.Session.FailedForks);
    }

    [Fact]
    public void OutOfMemory_InACallBeforeItsFirstAwait_IsACrashAndNoAnswer()
    {
        Assert.Throws<OutOfMemoryException>(() => _coordinator.Deliver(Call(5, 9, "memory")));

        Assert.DoesNotContain(_coordinator.Said, static line => line.StartsWith("failure", StringComparison.Ordinal));
    }

    /// <summary>
    /// A handler that cannot send any more, because the channel is gone, is no failed one: nothing of it is counted, set
    /// aside, or stops the app.
    /// </summary>
    [Theory]
    [InlineData(ForkPolicy.Continue)]
    [InlineData(ForkPolicy.Stop)]
    [InlineData(ForkPolicy.Quarantine)]
    public void ChannelEnded_BehindAnAwait_IsNoFailureOfTheHandler(ForkPolicy policy)
    {
        _coordinator.Deliver(Policy(policy));
        _coordinator.Deliver(Fork(2, "channel", "bank3"));

        Assert.Throws<ChannelEnded>(() => _coordinator.Deliver(Result(3, 1, 2)));
        Assert.Equal((0, 0), (_coordinator.Session.FailedForks, _coordinator.Session.MessagesSetAside));
        Assert.Empty(_coordinator.Lines);
    }

    /// <summary>The longest failure there can be, in an instance whose message limit is the smallest.</summary>
    [Fact]
    public void Failure_LongerThanTheSmallestLimit_IsCutToIt()
    {
        var small = new FakeCoordinator(ImmortalDefinition.Of<Picky>());
        small.Welcome(messageBytesMax: 64 * 1024);
        small.Deliver(FirstStart(), Peer(1, "bank2"), Peer(2, "bank3"));
        small.Deliver(Call(6, 9));

        string failure = Assert.Single(small.Said, static line => line.StartsWith("failure bank2 6 #9", StringComparison.Ordinal));
        Assert.Contains("outermost", failure, StringComparison.Ordinal);
        Assert.Null(small.Session.End);
    }
}
