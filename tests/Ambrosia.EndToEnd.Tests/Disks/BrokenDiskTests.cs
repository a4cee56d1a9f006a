namespace Ambrosia.EndToEnd.Tests;

/// <summary>
/// System calls of a real coordinator fail or do less than asked: an error of a write or a flush ends the process with 74, one line, and is
/// never tried again; an interrupted or short write is ordinary. Whatever it is, nothing is lost.
/// </summary>
public sealed class BrokenDiskTests
{
    private const int Calls = 300;

    [StraceFact]
    public void Ledger_WriteFails_EndsWith74AndLosesNothing() => EndsWith74("pwrite64,pwritev:error=EIO:when=25");

    [StraceFact]
    public void Ledger_FlushFails_EndsWith74AndLosesNothing() => EndsWith74("fdatasync:error=EIO:when=25");

    [StraceFact]
    public void Ledger_WritesAreInterrupted_GoesOn() => GoesOn("pwrite64,pwritev:error=EINTR:when=20+3");

    [StraceFact]
    public void Ledger_FlushesAreInterrupted_GoesOn() => GoesOn("fdatasync:error=EINTR:when=20+5");

    private static void EndsWith74(string fault)
    {
        using var cluster = new Cluster();
        (Replica source, Replica ledger) = cluster.Pair(Calls, burst: 5);
        source.Settings["UNTIL"] = cluster.Until;
        cluster.Run(Cluster.Again(nameof(BrokenDiskTests)), () =>
        {
            source.Start();
            ledger.Start(null, true, Strace(fault));
            Assert.Equal(74, ledger.AwaitExit());
            string why = ledger.AwaitLine("reason", IsReason);
            Assert.Contains("errno 5", why, StringComparison.Ordinal);
            Assert.Single(ledger.Lines.From(ledger.StartedAt), IsReason);
            ledger.Start();
            File.Create(cluster.Until).Dispose();
            Cluster.AssertEqual(source, Calls);
        });
    }

    private static bool IsReason(string line) => line.StartsWith("exit 74", StringComparison.Ordinal);

    private static void GoesOn(string fault)
    {
        using var cluster = new Cluster();
        (Replica source, Replica ledger) = cluster.Pair(Calls, burst: 5);
        cluster.Run(Cluster.Again(nameof(BrokenDiskTests)), () =>
        {
            source.Start();
            ledger.Start(null, true, Strace(fault));
            Cluster.AssertEqual(source, Calls);
            cluster.AssertNoneGaveUp();
        });
    }

    private static string[] Strace(string fault) =>
        ["strace", "-f", "--seccomp-bpf", "-qq", "-o", "/dev/null", "-e", $"trace={fault.Split(':')[0]}", "-e", $"inject={fault}"];
}
