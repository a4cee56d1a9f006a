using CRA.Links;

namespace CRA.Tests;

public sealed class LogRateLimiterTests
{
    private const long Second = 1000;

    private static List<string> Flood(LogRateLimiter budget, long now, int lines) =>
        [.. Enumerable.Range(0, lines).Select(i => budget.Admit($"line {i}", now)).OfType<string>()];

    [Fact]
    public void Flood_OfTenThousandLines_WritesABurstAndCountsTheRest()
    {
        var budget = new LogRateLimiter(Second, 0);
        Assert.Equal(Enumerable.Range(0, LogRateLimiter.BurstMax).Select(i => $"line {i}"), Flood(budget, 0, 10_000));
        Assert.Equal(10_000 - LogRateLimiter.BurstMax, budget.LeftOut);
        Assert.Equal("late (9900 lines like this were left out)", budget.Admit("late", Second));
        Assert.Equal(0, budget.LeftOut);
        Assert.Equal("later", budget.Admit("later", 2 * Second));
    }

    [Fact]
    public void Flood_OverAnHour_WritesItsShareAndLosesNoCount()
    {
        var budget = new LogRateLimiter(Second, 0);
        long written = 0, told = 0;
        for (long ms = 0; ms < 3600 * Second; ms += 10)
        {
            if (budget.Admit("x", ms) is not { } line) continue;
            written++;
            if (line.Length > 1) told += long.Parse(line.Split('(', ' ')[2], System.Globalization.CultureInfo.InvariantCulture);
        }
        Assert.InRange(written, 3600 * LogRateLimiter.PerSecond, (3600 * LogRateLimiter.PerSecond) + LogRateLimiter.BurstMax + 1);
        Assert.Equal(360_000, written + told + budget.LeftOut);
    }

    [Fact]
    public void Time_ThatGoesBack_GivesNothing()
    {
        var budget = new LogRateLimiter(Second, 100 * Second);
        Flood(budget, 100 * Second, LogRateLimiter.BurstMax);
        Assert.Null(budget.Admit("x", 0));
        Assert.Null(budget.Admit("x", 100 * Second));
    }
}
