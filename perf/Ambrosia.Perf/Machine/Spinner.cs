using System.Diagnostics;
using System.Runtime.CompilerServices;

namespace Ambrosia.Perf;

/// <summary>
/// A fixed piece of arithmetic, run before each leg: how long it takes says how fast the machine is just then, neighbours included.
/// </summary>
internal static class Spinner
{
    private const int Steps = 20_000_000;

    /// <summary>
    /// Both legs of a pair are dropped when the spinner before one of them took this much longer than the best: set before any measurement.
    /// </summary>
    public const double SlowestRatio = 1.15;

    /// <summary>Milliseconds of the work, the better of two so that the first step is not measured cold.</summary>
    public static double Run() => Math.Min(Once(), Once());

    private static double Once()
    {
        long begun = Stopwatch.GetTimestamp();
        Keep(Work(1));
        return Stopwatch.GetElapsedTime(begun).TotalMilliseconds;
    }

    // Each step needs the one before, so nothing but the clock rate and the share of the core decides.
    private static ulong Work(ulong x)
    {
        for (int i = 0; i < Steps; i++) x = (x * 6364136223846793005UL) + 1442695040888963407UL;
        return x;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Keep(ulong value) => _ = value;
}
