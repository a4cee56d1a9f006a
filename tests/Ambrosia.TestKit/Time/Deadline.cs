using System.Diagnostics;

namespace Ambrosia.TestKit;

/// <summary>Waits for real threads and processes: it polls a condition, and fails loudly. Nobody asserts how long something took.</summary>
public static class Deadline
{
    /// <summary>A slow machine has so long; a condition that does not hold by then never will.</summary>
    public static readonly TimeSpan Generous = TimeSpan.FromSeconds(60);

    /// <exception cref="TimeoutException">It did not come to hold in time.</exception>
    public static void Await(Func<bool> condition, string what, TimeSpan? within = null)
    {
        if (!IsMet(condition, within ?? Generous)) throw new TimeoutException($"not reached: {what}");
    }

    /// <summary>Returns whether the condition came to hold within this time.</summary>
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
