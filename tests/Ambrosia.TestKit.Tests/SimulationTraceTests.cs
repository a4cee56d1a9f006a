namespace Ambrosia.TestKit.Tests;

public sealed class SimulationTraceTests
{
    [Fact]
    public void Trace_OneEventDiffers_ItsIndexIsFound()
    {
        SimulationTrace first = Of("a", "b", "c", "d"), second = Of("a", "b", "x", "d");
        Assert.NotEqual(first.Hash, second.Hash);
        Assert.Equal(2, first.FirstDifference(second));
        Assert.Equal(["a", "b", "x", "d"], second.Tail);
    }

    [Fact]
    public void Trace_SameTextCutOtherwise_Differs() => Assert.Equal(0, Of("ab").FirstDifference(Of("a", "b")));

    [Fact]
    public void Trace_OneIsLonger_DiffersAtTheEndOfTheShorter() => Assert.Equal(1, Of("a").FirstDifference(Of("a", "b")));

    private static SimulationTrace Of(params string[] events)
    {
        var trace = new SimulationTrace();
        foreach (string what in events) trace.Add(what);
        return trace;
    }
}
