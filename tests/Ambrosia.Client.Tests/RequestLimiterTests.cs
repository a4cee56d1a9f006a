using Ambrosia.Client.Requests;

namespace Ambrosia.Client.Tests;

public sealed class RequestLimiterTests
{
    private static readonly CancellationToken s_none = CancellationToken.None;

    [Fact]
    public void Enter_WithinTheLimits_IsAtOnce()
    {
        var limiter = new RequestLimiter(countMax: 2, bytesMax: 10);
        Assert.True(limiter.EnterAsync(4, s_none).IsCompletedSuccessfully);
        Assert.True(limiter.EnterAsync(6, s_none).IsCompletedSuccessfully);
        Assert.False(limiter.EnterAsync(0, s_none).IsCompleted); // a third one
    }

    [Fact]
    public async Task Enter_BeyondTheLimits_WaitsInLine()
    {
        var limiter = new RequestLimiter(countMax: 3, bytesMax: 10);
        await limiter.EnterAsync(8, s_none);
        Task large = limiter.EnterAsync(5, s_none), small = limiter.EnterAsync(1, s_none);
        Assert.False(large.IsCompleted || small.IsCompleted); // the small one would fit, and stands behind
        limiter.Leave(8);
        await large;
        await small;
    }

    [Fact]
    public async Task Enter_LongerThanTheLimit_IsAlone()
    {
        var limiter = new RequestLimiter(countMax: 3, bytesMax: 10);
        await limiter.EnterAsync(1, s_none);
        Task huge = limiter.EnterAsync(100, s_none);
        Assert.False(huge.IsCompleted);
        limiter.Leave(1);
        await huge;
        Task next = limiter.EnterAsync(1, s_none);
        Assert.False(next.IsCompleted);
        limiter.Leave(100);
        await next;
    }

    [Fact]
    public async Task Enter_GivenUp_LetsTheNextOneIn()
    {
        var limiter = new RequestLimiter(countMax: 3, bytesMax: 10);
        await limiter.EnterAsync(8, s_none);
        using var impatient = new CancellationTokenSource();
        Task large = limiter.EnterAsync(5, impatient.Token), small = limiter.EnterAsync(1, s_none);
        await impatient.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => large);
        await small;
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => limiter.EnterAsync(1, impatient.Token));
    }
}
