using Ambrosia.Protocol.Frames;
using Ambrosia.Tasks;
using static Ambrosia.Binding.Tests.FakeCoordinator;

namespace Ambrosia.Binding.Tests;

/// <summary>
/// Code of the app that runs around a task's body, on a thread of ours: what it throws is told, and changes nothing else.
/// </summary>
public sealed class TaskNetTests
{
    private readonly Worker.World _world = new();

    public TaskNetTests() => Worker.Outside.Value = _world;

    private static FakeCoordinator Begun(ImmortalDefinition? definition = null)
    {
        var begun = new FakeCoordinator(definition ?? ImmortalDefinition.Of<Worker>());
        begun.Welcome();
        begun.DeliverWith(0, 1000, FirstStart(), Peer(1, "bank2"));
        begun.BecomePrimary();
        begun.Said.Clear();
        return begun;
    }

    [Fact]
    public async Task Deadline_CallbackThrows_IsToldAndTheTaskFailsAsItWould()
    {
        FakeCoordinator coordinator = Begun();
        int called = 0;
        var end = new TaskCompletionSource();
        _world.Async = context =>
        {
            context.Stopped.Register(() => called++);
            context.Stopped.Register(() => throw new InvalidOperationException("a slip of the app"));
            return end.Task;
        };
        coordinator.DeliverWith(0, coordinator.Tasks.Micros, Fork(1, "deadline"));
        Task run = coordinator.Tasks.RunNext();

        coordinator.Tasks.Clock.Advance(TimeSpan.FromSeconds(5));

        coordinator.Listen();
        Assert.Contains("Ambrosia.Timeout", coordinator.Said[^1], StringComparison.Ordinal);
        Assert.Equal(1, called);
        Assert.Contains(coordinator.Lines, static line => line.Contains("task 1", StringComparison.Ordinal)
            && line.Contains("a slip of the app", StringComparison.Ordinal));
        end.SetResult();
        await run.WaitAsync(TimeSpan.FromSeconds(30));
    }

    [Fact]
    public async Task SessionEnds_CallbackThrows_IsToldAndTheSessionEnds()
    {
        FakeCoordinator coordinator = Begun();
        var end = new TaskCompletionSource();
        _world.Async = context =>
        {
            context.Stopped.Register(() => throw new InvalidOperationException("a slip of the app"));
            return end.Task;
        };
        coordinator.DeliverWith(0, coordinator.Tasks.Micros, Fork(1, "deadline"));
        Task run = coordinator.Tasks.RunNext();

        coordinator.Session.Stop(GoodbyeCode.CleanStop, "over");

        Assert.Equal(SessionState.Ended, coordinator.Session.State);
        Assert.Contains(coordinator.Lines, static line => line.Contains("task 1", StringComparison.Ordinal)
            && line.Contains("a slip of the app", StringComparison.Ordinal));
        end.SetResult();
        await run.WaitAsync(TimeSpan.FromSeconds(30));
    }

    [Fact]
    public async Task SessionEnds_CallbackOfWhilePrimaryThrows_IsToldAndTheSessionEnds()
    {
        FakeCoordinator coordinator = Begun(ImmortalDefinition.Of<Watchful>());
        Task run = coordinator.Tasks.RunNext();

        coordinator.Session.Stop(GoodbyeCode.CleanStop, "over");

        Assert.Equal(SessionState.Ended, coordinator.Session.State);
        Assert.Contains(coordinator.Lines, static line => line.Contains("WhilePrimary", StringComparison.Ordinal)
            && line.Contains("a slip of the app", StringComparison.Ordinal));
        await run.WaitAsync(TimeSpan.FromSeconds(30));
    }

    [Fact]
    public async Task Scope_DisposeThrows_TheBodyIsNotRunAgain()
    {
        FakeCoordinator coordinator = Begun();
        coordinator.Tasks.Services = new HostServices(new NoServices(), static () => new ThrowingScope(), null);
        coordinator.Deliver(Fork(1, "scope"));

        await coordinator.Tasks.RunNext().WaitAsync(TimeSpan.FromSeconds(30));

        coordinator.Listen();
        Assert.Equal(["scoped"], _world.Did);
        Assert.False(Assert.Single(coordinator.Results).Failed);
        Assert.Contains(coordinator.Lines, static line => line.Contains("task 1", StringComparison.Ordinal)
            && line.Contains("the scope's end", StringComparison.Ordinal));
    }

    /// <summary>A scope that fails behind a failed body hides nothing of it.</summary>
    [Fact]
    public async Task Scope_DisposeThrowsBehindAFailure_TheFailureIsTheBodys()
    {
        FakeCoordinator coordinator = Begun();
        coordinator.Tasks.Services = new HostServices(new NoServices(), static () => new ThrowingScope(), null);
        coordinator.Deliver(Fork(1, "scopeThrows"));

        await coordinator.Tasks.RunNext().WaitAsync(TimeSpan.FromSeconds(30));

        coordinator.Listen();
        Assert.Contains("the body's own", coordinator.Said[^1], StringComparison.Ordinal);
    }

    private sealed class NoServices : IServiceProvider
    {
        public object? GetService(Type serviceType) => null;
    }

    private sealed class ThrowingScope : IServiceProvider, IDisposable
    {
        public object? GetService(Type serviceType) => null;

        public void Dispose() => throw new InvalidOperationException("the scope's end");
    }
}

public interface IWatchful
{
    [MethodId(1)]
    void Nothing();
}

/// <summary>Its work while it is primary makes a slip when that ends.</summary>
public sealed partial class Watchful : Immortal<IWatchfulProxy>, IWatchful
{
    public void Nothing()
    {
    }

    protected override async Task WhilePrimary(CancellationToken ended)
    {
        ended.Register(static () => throw new InvalidOperationException("a slip of the app"));
        await Task.Delay(Timeout.Infinite, ended).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
    }
}
