using Ambrosia.Binding.Tests.Immortals;
using Ambrosia.Protocol.Runs;
using static Ambrosia.Binding.Tests.FakeCoordinator;

namespace Ambrosia.Binding.Tests;

/// <summary>Proxies that are used without naming their class, and an immortal under a class of the app's own.</summary>
public sealed class FluentTests
{
    [Fact]
    public void Proxy_ByVar_IsSuspendedRestoredAndKept()
    {
        FakeCoordinator fluent = Started<Fluent>("bank1");
        fluent.Deliver(Call(1, 7, "2"), Mark(bound: 1));
        FakeCoordinator restored = Restored(fluent);
        restored.Deliver(Peer(2, "bank3"), Result(1, 1, 1, 5));
        Assert.Contains("call bank2 1 #2", restored.Said);
        restored.Deliver(Result(1, 2, 1, 6));
        Assert.Contains("fork bank1 3 11", restored.Said);
        Assert.Contains("result bank2 1 #7 11", restored.Said);
    }

    [Fact]
    public void WhenAny_OverARestore_GivesTheCallThatIsDone()
    {
        FakeCoordinator fluent = Started<Fluent>("bank1");
        fluent.Deliver(Peer(2, "bank3"), Call(2, 7, (object)new[] { "2", "3" }), Mark(bound: 1));
        FakeCoordinator restored = Restored(fluent);
        restored.Deliver(Result(1, 2, 2, 30), Result(1, 1, 1, 20));
        Assert.Contains("result bank2 2 #7 '1:30 0:20 '", restored.Said);
    }

    [Fact]
    public void WhenAny_OfCallsWithoutResults_GivesTheCall()
    {
        FakeCoordinator fluent = Started<Fluent>("bank1");
        fluent.DeliverWith(0, 1_000_000, Call(4, 7));
        fluent.DeliverWith(0, 2_000_001, Fired(2, 2_000_000));
        Assert.Contains("fork bank1 3 2", fluent.Said);
    }

    [Fact]
    public void Calls_ThatAreComplete_AreEqualByTheirValues()
    {
        Assert.Equal(Ambrosia.Call.FromResult(5), Ambrosia.Call.FromResult(5));
        Assert.True(Ambrosia.Call.FromResult("a") != Ambrosia.Call.FromResult("b"));
        Assert.True(default(Call) == default(Call));
        Assert.Equal(Ambrosia.Call.FromResult(5).GetHashCode(), Ambrosia.Call.FromResult(5).GetHashCode());
    }

    private static FakeCoordinator Restored(FakeCoordinator fluent)
    {
        var restored = new FakeCoordinator(ImmortalDefinition.Of<Fluent>(), "bank1");
        restored.Welcome(fluent.Image, fluent.Next.Value);
        return restored;
    }
}
