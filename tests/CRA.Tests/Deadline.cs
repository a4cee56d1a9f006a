using System.Diagnostics;

namespace CRA.Tests;

/// <summary>Waits for real threads: it polls a condition and fails loudly, and never asserts how long something took.</summary>
internal static class Deadline
{
    public static readonly TimeSpan Generous = TimeSpan.FromSeconds(60);

    public static void Await(Func<bool> condition, string what, TimeSpan? within = null) =>
        Assert.True(IsMet(condition, within ?? Generous), $"not reached: {what}");

    public static bool IsMet(Func<bool> condition, TimeSpan within)
    {
        var watch = Stopwatch.StartNew();
        while (!condition())
        {
            if (watch.Elapsed > within) return false;
            Thread.Sleep(1);
        }
        return true;
    }
}
