using CRA.Links;

namespace CRA.Tests;

public sealed class AcceptBackoffTests
{
    [Fact]
    public void Failed_AgainAndAgain_RestsLongerAndIsLoggedOnce()
    {
        var trouble = new AcceptBackoff();
        Assert.False(trouble.Succeeded(out _));
        var rests = new List<int>();
        for (int i = 0; i < 7; i++)
        {
            rests.Add((int)trouble.Failed(out bool isFirst).TotalMilliseconds);
            Assert.Equal(i == 0, isFirst);
        }
        Assert.Equal([100, 200, 400, 800, 1600, 2000, 2000], rests);
        Assert.True(trouble.Succeeded(out long failures));
        Assert.Equal(7, failures);
        Assert.False(trouble.Succeeded(out _));
        Assert.Equal(AcceptBackoff.FirstRest, trouble.Failed(out bool isFirstAgain));
        Assert.True(isFirstAgain);
    }
}
