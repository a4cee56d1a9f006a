using CRA.Links;

namespace CRA.Tests;

/// <summary>Every thread of ours has one outermost catch, and its starter hears what was caught.</summary>
public sealed class ThreadsTests
{
    [Fact]
    public void TryStart_ThreadThatFails_TellsItsStarter()
    {
        Exception? told = null;
        Thread? started =
            Threads.TryStart(nameof(ThreadsTests), static () => throw new InvalidOperationException("a fault"), e => told = e);
        Assert.NotNull(started);
        started.Join();
        Assert.Equal("a fault", told?.Message);
    }

    [Fact]
    public void TryStart_ThreadThatEnds_TellsNothing()
    {
        Exception? told = null;
        bool hasRun = false;
        Thread? started = Threads.TryStart(nameof(ThreadsTests), () => hasRun = true, e => told = e);
        Assert.NotNull(started);
        started.Join();
        Assert.True(hasRun);
        Assert.Null(told);
    }
}
