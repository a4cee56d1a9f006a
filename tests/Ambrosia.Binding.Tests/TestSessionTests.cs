using Ambrosia.Binding.Tests.Immortals;

namespace Ambrosia.Binding.Tests;

/// <summary>Unit tests of immortals, as users write them: without a session, a log or a coordinator.</summary>
public sealed class TestSessionTests
{
    private static readonly DateTimeOffset s_begin = new(2026, 1, 2, 3, 4, 5, TimeSpan.Zero);

    [Fact]
    public void New_OutsideOfSessions_MakesAnImmortalWhoseHandlersRun()
    {
        var kitchen = new Kitchen();
        kitchen.Note("milk");
        Assert.Equal(["milk"], kitchen.Notes);
        Assert.Empty(TestSession.Of(kitchen).Calls);
    }

    [Fact]
    public void Calls_OfEachKind_AreRecordedWithTheirArguments()
    {
        var kitchen = new Kitchen();
        kitchen.Send();
        IReadOnlyList<RecordedCall> calls = TestSession.Of(kitchen).Calls;
        Assert.Equal(
            [RecordedKind.Fork, RecordedKind.Fork, RecordedKind.Call, RecordedKind.Impulse], calls.Select(static each => each.Kind));
        Assert.All(calls, static each => Assert.Equal("IKitchen", each.Contract));
        Assert.Equal(["Note", "Bytes", "Ask", "Told"], calls.Select(static each => each.Method));
        Assert.Equal(["other", "other", "other", "test"], calls.Select(static each => each.To));
        Assert.Equal("milk", calls[0].Arguments[0]);
        Assert.Equal(new byte[] { 1, 2 }, calls[1].Arguments[0]);
        Assert.Equal([3, null], calls[2].Arguments);
        Assert.Equal("line-1", calls[3].Key);
        Assert.Equal("IKitchen(other).Note(milk)", calls[0].ToString());
        Assert.Equal([false, false, true, false], calls.Select(static each => each.IsAwaited));
    }

    [Fact]
    public async Task Answer_OfAnAwaitedCall_LetsTheHandlerGoOn()
    {
        var kitchen = new Kitchen();
        Call<string> whole = kitchen.AskTwice();
        Assert.False(whole.IsCompleted);
        TestSession outside = TestSession.Of(kitchen);
        Assert.Single(outside.Calls).Answer("a");
        Assert.False(whole.IsCompleted);
        outside.Calls[1].Answer("b");
        Assert.True(whole.IsCompleted);
        Assert.Equal("ab", await whole);
        Assert.Throws<InvalidOperationException>(() => outside.Calls[1].Answer("c"));
    }

    [Fact]
    public async Task Answer_OfAnotherTypeOrNone_IsRefused()
    {
        var kitchen = new Kitchen();
        Call<string> whole = kitchen.AskTwice();
        RecordedCall asked = Assert.Single(TestSession.Of(kitchen).Calls);
        Assert.Contains("Int32", Assert.Throws<ArgumentException>(() => asked.Answer(5)).Message, StringComparison.Ordinal);
        Assert.Throws<InvalidOperationException>(asked.Answer);
        InvalidOperationException waits = await Assert.ThrowsAsync<InvalidOperationException>(async () => await whole);
        Assert.Contains("has not finished", waits.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Fail_OfAnAwaitedCall_ArrivesAsFromAnotherInstance()
    {
        var kitchen = new Kitchen();
        Call<string> whole = kitchen.AskTwice();
        TestSession.Of(kitchen).Calls[0].Fail(new ArgumentException("no such thing"));
        RemoteCallException failure = await Assert.ThrowsAsync<RemoteCallException>(async () => await whole);
        Assert.Equal(("System.ArgumentException", "no such thing"), (failure.TypeName, failure.Message));
    }

    [Fact]
    public void Handler_ThatThrows_ThrowsInTheTest() =>
        Assert.Throws<FormatException>(() => new Kitchen().Note(""));

    [Fact]
    public void Advance_OverTimers_FiresEachAtItsTime()
    {
        var outside = new TestSession { Begin = s_begin };
        Kitchen kitchen = outside.Make(static () => new Kitchen());
        Call later = kitchen.Later(90);
        outside.Advance(TimeSpan.FromSeconds(60));
        Assert.False(later.IsCompleted);
        Assert.Equal(s_begin.AddSeconds(60), outside.Now);
        outside.Advance(TimeSpan.FromSeconds(60));
        Assert.True(later.IsCompleted);
        // Make has run OnFirstStart, which set the periodic timer of 50 seconds.
        Assert.Equal(["03:04:55", "03:05:35 later", "03:05:45"], kitchen.Notes);
    }

    [Fact]
    public void Lines_OfTheLogger_AreKept()
    {
        var outside = new TestSession { InstanceName = "kitchens" };
        outside.Make(static () => new Kitchen());
        Assert.Equal(["started in kitchens"], outside.LogLines);
    }

    [Fact]
    public void Advance_OverATimerWhoseHandlerThrows_Throws()
    {
        var outside = new TestSession();
        Kitchen kitchen = outside.Make(static () => new Kitchen());
        kitchen.Breaks = true;
        Assert.Throws<NotSupportedException>(() => outside.Advance(TimeSpan.FromMinutes(1)));
    }

    [Fact]
    public void Chance_OfOneSeed_IsTheSameAndOfAnotherIsNot()
    {
        static (Guid, int) Drawn(int seed) => new TestSession { Seed = seed }.Make(static () => new Kitchen()).Draw();
        Assert.Equal(Drawn(1), Drawn(1));
        Assert.NotEqual(Drawn(1), Drawn(2));
        Assert.Equal(new Kitchen().Draw(), Drawn(0));
    }

    [Fact]
    public async Task Tasks_AnsweredOrRunOrFailed_GiveTheirResult()
    {
        var outside = new TestSession { Services = new Numbers() };
        Kitchen kitchen = outside.Make(static () => new Kitchen());
        Call<int> given = kitchen.Compute(4), run = kitchen.Compute(5), failed = kitchen.Compute(-1);
        Assert.Equal([2, 2, 2], outside.Tasks.Select(static each => each.Options.Attempts));
        RecordedTask[] tasks = [.. outside.Tasks];
        tasks[0].Answer(16);
        await tasks[1].RunAsync();
        await tasks[2].RunAsync();
        Assert.Equal((16, 125), (await given, await run));
        RemoteCallException failure = await Assert.ThrowsAsync<RemoteCallException>(async () => await failed);
        Assert.Equal("negative", failure.Message);
        Assert.Empty(outside.Tasks);
        Assert.Throws<InvalidOperationException>(() => tasks[0].Answer(17));
        await Assert.ThrowsAsync<InvalidOperationException>(tasks[1].RunAsync);
    }

    [Fact]
    public void Cancel_InAHandler_EndsTheWaitOfAnother()
    {
        var kitchen = new Kitchen();
        Call<string> asked = kitchen.AskUnlessStopped();
        kitchen.Stop();
        Assert.True(asked.IsCompleted);
        Assert.Throws<OperationCanceledException>(() => asked.GetAwaiter().GetResult());
    }

    /// <summary>Two immortals in one test do not mix: each has its own calls, time and timers.</summary>
    [Fact]
    public async Task Immortals_TwoInOneTest_HaveSessionsOfTheirOwn()
    {
        Kitchen one = new(), two = new();
        Call<string> first = one.AskTwice(), second = two.AskTwice();
        TestSession.Of(one).Calls[0].Answer("a");
        TestSession.Of(two).Calls[0].Answer("x");
        TestSession.Of(two).Calls[1].Answer("y");
        TestSession.Of(one).Calls[1].Answer("b");
        Assert.Equal(("ab", "xy"), (await first, await second));
    }

    [Fact]
    public void Make_ASecondTime_IsRefused()
    {
        var outside = new TestSession();
        Assert.Throws<InvalidOperationException>(() => outside.Calls);
        outside.Make(static () => new Kitchen());
        Assert.Throws<InvalidOperationException>(() => outside.Make(static () => new Kitchen()));
    }

    [Fact]
    public void New_InAHandlerOfASession_IsRefused()
    {
        FakeCoordinator coordinator = FakeCoordinator.Started<Kitchen>();
        coordinator.Deliver(FakeCoordinator.Fork(5));
        Assert.Contains("GetProxy", coordinator.Immortal<Kitchen>().Notes[^1], StringComparison.Ordinal);
    }

    [Fact]
    public void Of_AnImmortalWithASession_IsRefused() =>
        Assert.Throws<ArgumentException>(() => TestSession.Of(FakeCoordinator.Started<Kitchen>().Immortal<Kitchen>()));

    private sealed class Numbers : IServiceProvider
    {
        public object? GetService(Type serviceType) => serviceType == typeof(string) ? "3" : null;
    }
}
