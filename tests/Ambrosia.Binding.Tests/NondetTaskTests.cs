using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Records;
using static Ambrosia.Binding.Tests.FakeCoordinator;

namespace Ambrosia.Binding.Tests;

public sealed class NondetTaskTests
{
    private readonly Worker.World _world = new();

    public NondetTaskTests() => Worker.Outside.Value = _world;

    private static FakeCoordinator Begun(bool primary = true, uint messageBytesMax = SizeLimits.MessageBytesMaxDefault)
    {
        var begun = new FakeCoordinator(ImmortalDefinition.Of<Worker>());
        begun.Welcome(messageBytesMax: messageBytesMax);
        begun.DeliverWith(0, 1000, FirstStart(), Peer(1, "bank2"), Peer(2, "bank3"));
        if (primary) begun.BecomePrimary();
        begun.Said.Clear();
        return begun;
    }

    private static FakeCoordinator Restored(FakeCoordinator from)
    {
        var restored = new FakeCoordinator(ImmortalDefinition.Of<Worker>());
        restored.Welcome(from.Image, from.Next.Value);
        return restored;
    }

    private static List<string> SeenBy(FakeCoordinator coordinator) => coordinator.Immortal<Worker>().Seen;

    /// <summary>Lets the body run, logs what it reported, and gives that record to the app, as a coordinator does.</summary>
    private static async Task<NondetResultRecord> RunAndLog(FakeCoordinator coordinator)
    {
        await coordinator.Tasks.RunNext();
        coordinator.Listen();
        NondetResultRecord record = coordinator.Results[^1];
        coordinator.Deliver(RecordKinds.EncodeWhole(record));
        return record;
    }

    [Theory]
    [InlineData("value", "value: 41")]
    [InlineData("async", "async: 1")]
    [InlineData("action", "action: done")]
    [InlineData("asyncAction", "asyncAction: done")]
    [InlineData("throws", "throws: System.InvalidOperationException body < inner")]
    [InlineData("asyncThrows", "asyncThrows: System.TimeoutException late")]
    [InlineData("throwsRemote", "throwsRemote: Shop.Refused no credit < why")]
    [InlineData("throwsRemoteInside", "throwsRemoteInside: System.InvalidOperationException the shop < no credit")]
    [InlineData("mute", "mute: Ambrosia.Binding.Tests.Worker+Mute Ambrosia.Binding.Tests.Worker+Mute was thrown.")]
    [InlineData("key", "key: 0f0e0d0c0b0a09080706050403020100/1 #1")]
    [InlineData("graph", "graph: whole 2 True")]
    [InlineData("null", "null: null")]
    [InlineData("bytes", "bytes: 0102FF")]
    [InlineData("tuple", "tuple: (1, two, )")]
    [InlineData("method", "method: 1")]
    [InlineData("asyncMethod", "asyncMethod: 1")]
    [InlineData("voidMethod", "voidMethod: done")]
    [InlineData("contextMethod", "contextMethod: c 0f0e0d0c0b0a09080706050403020100/1")]
    public async Task Task_OfEveryForm_GivesItsResultThroughTheLog(string how, string expected)
    {
        FakeCoordinator coordinator = Begun();
        coordinator.Deliver(Fork(1, how));
        Assert.Empty(SeenBy(coordinator));
        Assert.Equal(1, coordinator.Tasks.Waiting);

        NondetResultRecord record = await RunAndLog(coordinator);

        Assert.Equal([expected], SeenBy(coordinator));

        // Another execution of the same log runs no body and sees the same.
        FakeCoordinator replay = Begun(primary: false);
        replay.Deliver(Fork(1, how), RecordKinds.EncodeWhole(record));
        Assert.Equal([expected], SeenBy(replay));
        Assert.Equal(0, replay.Tasks.Waiting);
    }

    [Theory]
    [InlineData("stream", "Ambrosia.Misuse ")]
    [InlineData("surroundings", "Ambrosia.Misuse Time, randomness")]
    public async Task Task_WhoseBodyDoesWhatItMustNot_FailsWithTheReason(string how, string expected)
    {
        FakeCoordinator coordinator = Begun();
        coordinator.Deliver(Fork(1, how));

        Assert.True((await RunAndLog(coordinator)).Failed);

        Assert.StartsWith($"{how}: {expected}", Assert.Single(SeenBy(coordinator)), StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("lambdaMethod", "not a static method")]
    [InlineData("badOptions", "Attempts is 0")]
    [InlineData("endless", "null for a task that may take as long as it does")]
    public void Task_ThatCannotBe_IsRefusedAtItsCall(string how, string expected)
    {
        FakeCoordinator coordinator = Begun();
        coordinator.Deliver(Fork(1, how));

        Assert.Contains(expected, Assert.Single(SeenBy(coordinator)), StringComparison.Ordinal);
        Assert.Equal(0, coordinator.Tasks.Waiting);
    }

    [Fact]
    public async Task Result_AboveTheMessageLimit_IsAFailureThatSaysSo()
    {
        FakeCoordinator coordinator = Begun(messageBytesMax: 1000);
        coordinator.Deliver(Fork(1, "large"));

        await RunAndLog(coordinator);

        Assert.Contains("longer than the limit of 1000 bytes", Assert.Single(SeenBy(coordinator)), StringComparison.Ordinal);
    }

    /// <summary>I17: two primaries ran the body, and both results reached the log.</summary>
    [Fact]
    public void Results_OfOneTask_TheFirstCounts()
    {
        FakeCoordinator coordinator = Begun(primary: false);
        coordinator.Deliver(Fork(1, "async"), Gave(1, 7), Gave(1, 8));

        Assert.Equal(["async: 7"], SeenBy(coordinator));
        Assert.Equal(1, coordinator.Session.IgnoredResults);
    }

    [Fact]
    public void Results_CompleteInTheOrderOfTheLog()
    {
        FakeCoordinator coordinator = Begun(primary: false);
        coordinator.Deliver(Fork(1, "async"), Fork(1, "method"), Gave(2, 20), Gave(1, 10));

        Assert.Equal(["method: 20", "async: 10"], SeenBy(coordinator));
    }

    [Theory]
    [InlineData(0)]
    [InlineData(2)]
    public void Result_OfATaskThatWasNeverBegun_IsADivergence(ulong task)
    {
        FakeCoordinator coordinator = Begun(primary: false);
        coordinator.Deliver(Fork(1, "async"), Gave(task, 1));

        Assert.Equal(GoodbyeCode.Divergence, coordinator.Session.End!.Code);
        Assert.Contains("L5.11", coordinator.Session.End.Why, StringComparison.Ordinal);
    }

    [Fact]
    public void Result_ThatTheTaskCannotHave_FailsIt()
    {
        FakeCoordinator coordinator = Begun(primary: false);
        coordinator.Deliver(Fork(1, "async"), Gave(1, "a text"));

        Assert.Contains("cannot be decoded", Assert.Single(SeenBy(coordinator)), StringComparison.Ordinal);
    }

    /// <summary>I10: only a primary runs bodies; a new one starts what has no result, in order, and nothing else.</summary>
    [Fact]
    public async Task Tasks_WithoutAResult_StartAgainWithTheNextPrimary()
    {
        FakeCoordinator coordinator = Begun(primary: false);
        coordinator.Deliver(Fork(1, "async"), Fork(1, "action"), Fork(1, "method"), Gave(2, (object?)null));
        Assert.Equal(0, coordinator.Tasks.Waiting);

        coordinator.BecomePrimary();
        Assert.Equal(2, coordinator.Tasks.Waiting);
        await RunAndLog(coordinator);
        await RunAndLog(coordinator);

        Assert.Equal(["action: done", "async: 1", "method: 2"], SeenBy(coordinator));
        Assert.Equal(["async", "method"], _world.Did);
    }

    [Fact]
    public async Task Retry_PausesBetweenAttempts_AndReportsOnce()
    {
        FakeCoordinator coordinator = Begun();
        coordinator.Deliver(Fork(1, "retry"));
        Task run = coordinator.Tasks.RunNext();
        Assert.Equal(TimeSpan.FromSeconds(1), coordinator.Tasks.Clock.UntilNextTimer);
        coordinator.Tasks.Clock.Advance(TimeSpan.FromSeconds(1));
        Assert.Equal(TimeSpan.FromSeconds(1.5), await coordinator.Tasks.NextPause());
        coordinator.Tasks.Clock.Advance(TimeSpan.FromSeconds(1.5));
        await run.WaitAsync(TimeSpan.FromSeconds(30));

        coordinator.Listen();
        Assert.Equal("task 1 gave 1", coordinator.Said[^1]);
        Assert.Equal(["attempt 3"], _world.Did);
    }

    [Fact]
    public async Task Retry_InVain_LogsTheLastFailure()
    {
        FakeCoordinator coordinator = Begun();
        coordinator.Deliver(Fork(1, "retryInVain"));
        Task run = coordinator.Tasks.RunNext();
        for (int i = 0; i < 2; i++)
        {
            await coordinator.Tasks.NextPause();
            coordinator.Tasks.Clock.Advance(TimeSpan.FromSeconds(1.5));
        }
        await run.WaitAsync(TimeSpan.FromSeconds(30));

        coordinator.Listen();
        Assert.Contains("attempt 3", coordinator.Said[^1], StringComparison.Ordinal);
        Assert.True(Assert.Single(coordinator.Results).Failed);
    }

    /// <summary>What the app calls hopeless is the last failure, and so is one that it cannot judge.</summary>
    [Theory]
    [InlineData("retryNothingElse", "never")]
    [InlineData("retryThatThrows", "attempt 1")]
    public async Task Retry_OfWhatIsHopeless_EndsThere(string how, string message)
    {
        FakeCoordinator coordinator = Begun();
        coordinator.Deliver(Fork(1, how));
        await coordinator.Tasks.RunNext().WaitAsync(TimeSpan.FromSeconds(30));

        coordinator.Listen();
        Assert.Contains(message, coordinator.Said[^1], StringComparison.Ordinal);
        Assert.True(Assert.Single(coordinator.Results).Failed);
    }

    [Fact]
    public async Task Deadline_Passes_FailsTheTaskAndTellsItsBody()
    {
        FakeCoordinator coordinator = Begun();
        var end = new TaskCompletionSource();
        CancellationToken stopped = default;
        _world.Async = context =>
        {
            stopped = context.Stopped;
            return end.Task;
        };
        coordinator.DeliverWith(0, coordinator.Tasks.Micros, Fork(1, "deadline"));
        Task run = coordinator.Tasks.RunNext();
        coordinator.Tasks.Clock.Advance(TimeSpan.FromSeconds(4.9));
        Assert.False(stopped.IsCancellationRequested);
        coordinator.Tasks.Clock.Advance(TimeSpan.FromSeconds(0.1));

        coordinator.Listen();
        Assert.Contains("Ambrosia.Timeout", coordinator.Said[^1], StringComparison.Ordinal);
        Assert.True(stopped.IsCancellationRequested);

        // What the body still gives is no second report.
        int said = coordinator.Said.Count;
        end.SetResult();
        await run.WaitAsync(TimeSpan.FromSeconds(30));
        coordinator.Listen();
        Assert.Equal(said, coordinator.Said.Count);
    }

    [Fact]
    public void Deadline_PassedBeforeTheRestart_FailsTheTaskAtOnce()
    {
        FakeCoordinator coordinator = Begun(primary: false);
        coordinator.DeliverWith(0, coordinator.Tasks.Micros, Fork(1, "deadline"));
        coordinator.Tasks.Clock.Advance(TimeSpan.FromSeconds(5));
        coordinator.BecomePrimary();
        coordinator.Tasks.RunAll();
        coordinator.Listen();

        Assert.Contains("Ambrosia.Timeout", coordinator.Said[^1], StringComparison.Ordinal);
        Assert.Empty(_world.Did);
    }

    /// <summary>A clock that was set forward is ahead of the log for a while; that takes no time from a task that begins now.</summary>
    [Fact]
    public void Deadline_LogBehindTheClock_CountsFromTheBeginning()
    {
        FakeCoordinator coordinator = Begun();
        _world.Async = static _ => Task.CompletedTask;
        coordinator.DeliverWith(0, coordinator.Tasks.Micros - (long)TimeSpan.FromHours(25).TotalMicroseconds, Fork(1, "deadline"));
        coordinator.Tasks.RunAll();
        coordinator.Listen();
        Assert.DoesNotContain(coordinator.Said, static said => said.Contains("Ambrosia.Timeout", StringComparison.Ordinal));
    }

    /// <summary>Only a primary has timers: what one cannot do must not become a failure of the handler, which no replay repeats.</summary>
    [Fact]
    public async Task Deadline_BeyondATimersReach_PassesInItsTime()
    {
        FakeCoordinator coordinator = Begun();
        var end = new TaskCompletionSource();
        _world.Async = _ => end.Task;
        coordinator.DeliverWith(0, coordinator.Tasks.Micros, Fork(1, "deadlineInYears"));
        Assert.Equal(1, coordinator.Tasks.Waiting);
        Task run = coordinator.Tasks.RunNext();
        coordinator.Tasks.Clock.Advance(TimeSpan.FromDays(399.9));
        coordinator.Listen();
        Assert.Empty(coordinator.Results);
        coordinator.Tasks.Clock.Advance(TimeSpan.FromDays(0.1));

        coordinator.Listen();
        Assert.Contains("Ambrosia.Timeout", coordinator.Said[^1], StringComparison.Ordinal);
        end.SetResult();
        await run.WaitAsync(TimeSpan.FromSeconds(30));
    }

    [Fact]
    public async Task Deadline_OfTheLongestTime_IsNone()
    {
        FakeCoordinator coordinator = Begun();
        coordinator.Deliver(Fork(1, "deadlineNever"));
        await RunAndLog(coordinator);

        Assert.Equal(["deadlineNever: 1"], SeenBy(coordinator));
    }

    [Fact]
    public async Task Backoff_BeyondATimersReach_IsWaitedFor()
    {
        FakeCoordinator coordinator = Begun();
        coordinator.Deliver(Fork(1, "patient"));
        Task run = coordinator.Tasks.RunNext();
        var waited = TimeSpan.Zero;
        while (waited < TimeSpan.FromDays(100 + 200 + 400))
        {
            TimeSpan pause = await coordinator.Tasks.NextPause();
            waited += pause;
            coordinator.Tasks.Clock.Advance(pause);
        }
        await run.WaitAsync(TimeSpan.FromSeconds(30));
        coordinator.Listen();
        Assert.False(Assert.Single(coordinator.Results).Failed);
    }

    [Fact]
    public async Task SessionEnds_TellsBodiesAndTakesNothingMore()
    {
        FakeCoordinator coordinator = Begun();
        CancellationToken stopped = default;
        _world.Async = context =>
        {
            stopped = context.Stopped;
            return Task.Delay(Timeout.Infinite, context.Stopped);
        };
        coordinator.DeliverWith(0, coordinator.Tasks.Micros, Fork(1, "deadline"));
        Task run = coordinator.Tasks.RunNext();
        coordinator.Listen();
        coordinator.Session.Stop(GoodbyeCode.CleanStop, "over");
        coordinator.Listen();
        int said = coordinator.Said.Count;

        await run.WaitAsync(TimeSpan.FromSeconds(30));

        Assert.True(stopped.IsCancellationRequested);
        coordinator.Listen();
        Assert.Equal(said, coordinator.Said.Count);
    }

    /// <summary>The primitive form is method and bytes: it passes any checkpoint, and starts again behind it.</summary>
    [Fact]
    public async Task Method_OutstandingAtACheckpoint_IsRestoredAndStartsAgain()
    {
        FakeCoordinator first = Begun();
        first.Deliver(Fork(2, "method"), Mark());
        FakeCoordinator second = Restored(first);
        Assert.Equal(0, second.Tasks.Waiting);
        second.BecomePrimary();
        Assert.Equal(1, second.Tasks.Waiting);

        await RunAndLog(second);

        Assert.True(second.Immortal<Worker>().Kept.IsCompleted);
        Assert.Equal(1, second.Immortal<Worker>().KeptValue);
        Assert.Equal(["kept"], _world.Did);

        // The result is of no further interest, and the next task has the next number.
        second.Deliver(Fork(2, "method"), Mark());
        Assert.Equal(2ul, Assert.Single(Restored(second).Session.OutstandingTasks));
    }

    /// <summary>The lambda form: the delegate is written with what it captures, and starts again behind the checkpoint.</summary>
    [Theory]
    [InlineData("value", "value: 41")]
    [InlineData("async", "async: 1")]
    [InlineData("key", "key: 0f0e0d0c0b0a09080706050403020100/1 #1")]
    public async Task Lambda_OutstandingAtACheckpoint_IsRestoredAndStartsAgain(string how, string expected)
    {
        FakeCoordinator first = Begun();
        first.Deliver(Fork(1, how), Mark(bound: 1));
        FakeCoordinator second = Restored(first);
        second.BecomePrimary();
        Assert.Equal(1, second.Tasks.Waiting);

        await RunAndLog(second);

        Assert.Equal(expected, SeenBy(second)[0]);
        second.Deliver(Mark());
        Assert.NotEmpty(second.Image);
    }

    /// <summary>A lambda that nobody awaits is no local of a suspended method, and is restored all the same.</summary>
    [Fact]
    public async Task Lambda_ThatTheStateKeeps_IsRestoredToo()
    {
        FakeCoordinator first = Begun();
        first.Deliver(Fork(2, "lambda"), Mark());
        FakeCoordinator second = Restored(first);
        second.BecomePrimary();
        await RunAndLog(second);

        Assert.Equal(1, second.Immortal<Worker>().KeptValue);
    }

    /// <summary>What a lambda captures and no image can hold postpones the checkpoint, and says so.</summary>
    [Fact]
    public async Task Lambda_ThatCapturesWhatCannotBeWritten_PostponesTheCheckpoint()
    {
        FakeCoordinator coordinator = Begun();
        coordinator.Deliver(Fork(2, "captive"), Mark());
        Assert.Contains(coordinator.Said,
            static line => line.StartsWith("waiting", StringComparison.Ordinal) && line.Contains("MemoryStream", StringComparison.Ordinal));

        await RunAndLog(coordinator);
        coordinator.Deliver(Mark());

        Assert.NotEmpty(coordinator.Image);
    }
}
