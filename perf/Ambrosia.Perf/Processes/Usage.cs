namespace Ambrosia.Perf;

/// <summary>What processes have used and written: of a moment, or between two.</summary>
/// <param name="CpuSeconds">User and system time of all of them.</param>
/// <param name="Commits">Flushes of the receivers' logs.</param>
/// <param name="LogBytes">Written to the receivers' logs.</param>
/// <param name="SenderCommits">Flushes of the others.</param>
/// <param name="SenderLogBytes">Written to the others.</param>
internal sealed record Usage(double CpuSeconds, long Commits, long LogBytes, long SenderCommits, long SenderLogBytes)
{
    public double BytesPerCommit => Commits == 0 ? 0 : (double)LogBytes / Commits;

    public static Usage operator +(Usage a, Usage b) => new(
        a.CpuSeconds + b.CpuSeconds, a.Commits + b.Commits, a.LogBytes + b.LogBytes, a.SenderCommits + b.SenderCommits,
        a.SenderLogBytes + b.SenderLogBytes);

    public static Usage operator -(Usage a, Usage b) => new(
        a.CpuSeconds - b.CpuSeconds, a.Commits - b.Commits, a.LogBytes - b.LogBytes, a.SenderCommits - b.SenderCommits,
        a.SenderLogBytes - b.SenderLogBytes);
}
