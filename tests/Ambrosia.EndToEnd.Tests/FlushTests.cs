namespace Ambrosia.EndToEnd.Tests;

/// <summary>
/// Flushes against acknowledgements, counted where they cannot be explained away: in the system calls of a ledger's coordinator.
/// </summary>
public sealed class FlushTests
{
    private const int Calls = 400;

    [StraceFact]
    public void Acknowledgements_OfALedger_HaveAFlushAndAFenceCheckBeforeThem()
    {
        using var cluster = new Cluster();
        (Replica source, Replica ledger) = cluster.Pair(Calls, burst: 5);
        string trace = Path.Combine(cluster.Root, "trace");
        cluster.Run(Cluster.Again(nameof(FlushTests)), () =>
        {
            ledger.Start(wrapper: ["strace", "-f", "-yy", "-xx", "-s", "512", "-o", trace, "-e", "trace=pwrite64,fdatasync,statx,sendto"]);
            source.Start();
            Cluster.AssertEqual(source, Calls);
            var judge = new TraceJudge(File.ReadLines(trace));
            Assert.True(judge.Acknowledgements >= Calls / 10, $"only {judge.Acknowledgements} acknowledgements were seen in the trace");
            Assert.Empty(judge.Unfounded);

            // Negative controls: a coordinator that did not flush, or did not look at the fence, would be found out.
            Assert.NotEmpty(
                new TraceJudge(File.ReadLines(trace).Where(static line => !line.Contains("fdatasync", StringComparison.Ordinal)))
                    .Unfounded);
            Assert.NotEmpty(
                new TraceJudge(File.ReadLines(trace).Where(static line => !line.Contains("statx", StringComparison.Ordinal))).Unfounded);
        });
    }
}
