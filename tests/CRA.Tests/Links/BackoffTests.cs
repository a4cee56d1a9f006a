using CRA.Links;

namespace CRA.Tests;

public sealed class BackoffTests
{
    private static readonly double[] s_boundsMs = [0, 20, 40, 80, 160, 320, 640, 1280, 2000, 2000, 2000];

    [Theory]
    [InlineData(0.0)]
    [InlineData(0.5)]
    [InlineData(0.9999999)]
    public void Next_IsTheShareOfADoublingBound(double share)
    {
        var backoff = new Backoff(() => share);
        foreach (double bound in s_boundsMs) Assert.Equal(bound * share, backoff.Next().TotalMilliseconds, 0.001);
    }

    [Fact]
    public void Next_ForManySeeds_StaysInItsBounds_AndIsSpread()
    {
        var seen = new HashSet<TimeSpan>();
        for (int seed = 0; seed < 200; seed++)
        {
            var backoff = new Backoff(new Random(seed).NextDouble);
            foreach (double bound in s_boundsMs) Assert.InRange(backoff.Next().TotalMilliseconds, 0, bound);
            seen.Add(backoff.Next());
        }
        Assert.True(seen.Count > 190, $"only {seen.Count} different waits of 200");
    }

    [Fact]
    public void Reset_DialsAtOnceAgain()
    {
        var backoff = new Backoff(() => 0.5);
        for (int i = 0; i < 5; i++) backoff.Next();
        backoff.Reset();
        Assert.Equal(TimeSpan.Zero, backoff.Next());
        Assert.Equal(TimeSpan.FromMilliseconds(10), backoff.Next());
    }

    [Theory]
    [InlineData(1.0)]
    [InlineData(-0.1)]
    [InlineData(double.NaN)]
    public void Next_WithABrokenRandomSource_Throws(double share)
    {
        var backoff = new Backoff(() => share);
        backoff.Next();
        Assert.Throws<InvalidOperationException>(() => backoff.Next());
    }
}
