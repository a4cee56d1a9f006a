using Ambrosia.Binding.Tests.Immortals;
using Ambrosia.Protocol.Frames;
using static Ambrosia.Binding.Tests.FakeCoordinator;

namespace Ambrosia.Binding.Tests;

/// <summary>Plants a thread that touches the state while no handler runs, and finds it.</summary>
public sealed class StateWatchTests
{
    [Fact]
    public void State_ThatAnotherThreadChanges_IsNamedAtTheNextInput()
    {
        FakeCoordinator kitchen = Started(QueryChecking.Always);
        kitchen.Deliver(Fork(1, "milk"));
        OnAnotherThread(() => kitchen.Immortal<Kitchen>().Notes.Add("by a thread"));
        kitchen.Deliver(Fork(1, "tea"));

        Assert.Equal(GoodbyeCode.AppFailed, kitchen.Session.End!.Code);
        Assert.Contains("state of Kitchen was changed while no handler ran, in Notes", kitchen.Session.End.Why, StringComparison.Ordinal);
        Assert.Contains(kitchen.Lines, static line => line.Contains("Let it send an impulse", StringComparison.Ordinal));
        Assert.Equal(["milk", "by a thread"], kitchen.Immortal<Kitchen>().Notes); // nothing was executed on such a state
    }

    [Fact]
    public void State_ThatHandlersAloneChange_IsLeftInPeace()
    {
        FakeCoordinator kitchen = Started(QueryChecking.Always);
        for (int i = 0; i < 50; i++) kitchen.Deliver(Fork(1, $"note {i}"), Call(3, (ulong)i + 1, i, null));
        kitchen.BecomePrimary();
        kitchen.Deliver(Fork(1, "last"), Mark());
        Assert.Null(kitchen.Session.End);
        Assert.Equal(51, kitchen.Immortal<Kitchen>().Notes.Count);
    }

    /// <summary>The first waits of a session are not looked at, since callers may wait for it then; and behind them few are.</summary>
    [Theory]
    [InlineData(1, false)]
    [InlineData(8, false)]
    [InlineData(16, true)]
    [InlineData(17, false)]
    [InlineData(32, true)]
    public void State_Sampled_IsLookedAtSeldom(int waits, bool isFound)
    {
        FakeCoordinator kitchen = new(ImmortalDefinition.Of<Kitchen>()) { StateChecking = QueryChecking.Sampled };
        kitchen.Welcome(); // before the first record there is no state
        kitchen.Deliver(FirstStart());
        for (int wait = 1; wait < waits; wait++) kitchen.Deliver(Peer((uint)wait, $"peer{wait}"));
        OnAnotherThread(() => kitchen.Immortal<Kitchen>().Notes.Add("by a thread"));
        kitchen.Deliver(Peer((uint)waits, $"peer{waits}"));
        Assert.Equal(isFound, kitchen.Session.End is not null);
    }

    private static FakeCoordinator Started(QueryChecking checking)
    {
        var kitchen = new FakeCoordinator(ImmortalDefinition.Of<Kitchen>()) { StateChecking = checking };
        kitchen.Welcome();
        kitchen.Deliver(FirstStart(), Peer(1, "bank2"));
        return kitchen;
    }

    private static void OnAnotherThread(Action act)
    {
        var thread = new Thread(() => act());
        thread.Start();
        thread.Join();
    }
}
