namespace Ambrosia.Perf;

/// <summary>What one instance has used of the processor: at a moment, or between two.</summary>
/// <param name="Waits">Times that a thread of the coordinator waited for something: a wake-up each.</param>
/// <param name="CompilationSeconds">Of both, and in neither of the other two.</param>
internal readonly record struct HubUsage(double CoordinatorSeconds, double AppSeconds, long Waits, double CompilationSeconds)
{
    public double Seconds => CoordinatorSeconds + AppSeconds;

    /// <summary>Nothing where nobody is told apart.</summary>
    public static HubUsage Of(Member? member)
    {
        if (member is null) return default;
        double both = member.CpuSeconds(out double coordinator);
        ThreadUse threads = ThreadUse.OfProcess(member.CoordinatorId),
            compiling = member.AppId == member.CoordinatorId ? default : ThreadUse.OfProcess(member.AppId);
        return new HubUsage(
            coordinator - threads.CompilationSeconds, both - coordinator - compiling.CompilationSeconds, threads.Waits,
            threads.CompilationSeconds + compiling.CompilationSeconds);
    }

    public static HubUsage operator -(HubUsage a, HubUsage b) =>
        new(a.CoordinatorSeconds - b.CoordinatorSeconds, a.AppSeconds - b.AppSeconds, a.Waits - b.Waits,
            a.CompilationSeconds - b.CompilationSeconds);
}
