using CRA.Links;

namespace CRA.Tests;

public sealed class LivenessTests
{
    [Theory]
    [InlineData(1)]
    [InlineData(1_000)]
    [InlineData(1_000_000_000)]
    public void Liveness_OverItsLimits_IsDue(long frequency)
    {
        var liveness = new Liveness(frequency, begun: 100);
        Assert.Equal(TimeSpan.FromSeconds(1), liveness.UntilHeartbeat(100));
        Assert.Equal(TimeSpan.Zero, liveness.UntilHeartbeat(100 + frequency));
        Assert.Equal(TimeSpan.FromSeconds(1), liveness.UntilDead(100 + (4 * frequency)));
        Assert.Equal(TimeSpan.Zero, liveness.UntilDead(100 + (5 * frequency)));
        Assert.Equal(TimeSpan.Zero, liveness.UntilDead(100 + (500 * frequency)));
    }

    [Fact]
    public void SentAndHeard_MoveTheirOwnHalfOnly()
    {
        var liveness = new Liveness(10, begun: 0);
        liveness.Sent(20);
        Assert.Equal(TimeSpan.FromSeconds(1), liveness.UntilHeartbeat(20));
        Assert.Equal(TimeSpan.FromSeconds(3), liveness.UntilDead(20));
        liveness.Heard(30);
        Assert.Equal(TimeSpan.Zero, liveness.UntilHeartbeat(30));
        Assert.Equal(TimeSpan.FromSeconds(5), liveness.UntilDead(30));
    }

    [Fact]
    public void Liveness_WithATimestampBeforeTheLast_StaysAtTheLimit() =>
        Assert.Equal(TimeSpan.FromSeconds(5), new Liveness(10, begun: 100).UntilDead(0));
}
