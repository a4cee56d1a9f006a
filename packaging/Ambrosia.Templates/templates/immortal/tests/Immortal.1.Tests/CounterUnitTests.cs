using Ambrosia;

namespace Immortal._1.Tests;

/// <summary>Tests the counter as a plain class: without a process, a log or a coordinator.</summary>
public sealed class CounterUnitTests
{
    [Fact]
    public void Add_PastTwoHundreds_TellsTheAuditorOfBoth()
    {
        var counter = new Counter();
        Assert.Equal(250, counter.Add(250));
        Assert.Equal([100L, 200L], TestSession.Of(counter).Calls.Select(call => call.Arguments[0]));
    }

    [Fact]
    public void Add_OfNothing_IsRefused() => Assert.Throws<ArgumentException>(() => new Counter().Add(0));
}
