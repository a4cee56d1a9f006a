namespace Ambrosia.Client.Tests;

public sealed class AllowanceTests
{
    private static readonly CancellationToken none = CancellationToken.None;

    [Fact]
    public void Enter_WithinTheLimits_IsAtOnce()
    {
        var allowance = new Allowance(countMax: 2, bytesMax: 10);
        Assert.True(allowance.EnterAsync(4, none).IsCompletedSuccessfully);
        Assert.True(allowance.EnterAsync(6, none).IsCompletedSuccessfully);
        Assert.False(allowance.EnterAsync(0, none).IsCompleted); // a third one
    }

    [Fact]
    public async Task Enter_BeyondTheLimits_WaitsInLine()
    {
        var allowance = new Allowance(countMax: 3, bytesMax: 10);
        await allowance.EnterAsync(8, none);
        Task large = allowance.EnterAsync(5, none), small = allowance.EnterAsync(1, none);
        Assert.False(large.IsCompleted || small.IsCompleted); // the small one would fit, and stands behind
        allowance.Leave(8);
        await large;
        await small;
    }

    [Fact]
    public async Task Enter_LongerThanTheLimit_IsAlone()
    {
        var allowance = new Allowance(countMax: 3, bytesMax: 10);
        await allowance.EnterAsync(1, none);
        Task huge = allowance.EnterAsync(100, none);
        Assert.False(huge.IsCompleted);
        allowance.Leave(1);
        await huge;
        Task next = allowance.EnterAsync(1, none);
        Assert.False(next.IsCompleted);
        allowance.Leave(100);
        await next;
    }

    [Fact]
    public async Task Enter_GivenUp_LetsTheNextOneIn()
    {
        var allowance = new Allowance(countMax: 3, bytesMax: 10);
        await allowance.EnterAsync(8, none);
        using var impatient = new CancellationTokenSource();
        Task large = allowance.EnterAsync(5, impatient.Token), small = allowance.EnterAsync(1, none);
        await impatient.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => large);
        await small;
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => allowance.EnterAsync(1, impatient.Token));
    }
}
