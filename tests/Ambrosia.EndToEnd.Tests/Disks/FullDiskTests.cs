namespace Ambrosia.EndToEnd.Tests;

/// <summary>A disk that is really full: senders wait, nothing is lost, and work goes on when there is space again.</summary>
public sealed class FullDiskTests
{
    private const int Calls = 4_000, FillBytes = 10_000, DiskMebibytes = 16;
    private const string Full = "DISK IS FULL";

    [MountFact]
    public void Ledger_DiskFull_SendersWaitAndWorkGoesOnWithMoreSpace() => RunFull((disk, ledger) =>
    {
        int before = ledger.StartedAt;
        ledger.Lines.Await("line about the full disk", static line => line.Contains(Full, StringComparison.Ordinal), before, Cluster.Patience);
        Assert.True(ledger.IsRunning);
        disk.Resize(256);
        ledger.Lines.Await("line about the space", static line => line.Contains("there is space for the log again", StringComparison.Ordinal), before, Cluster.Patience);
        Assert.Single(ledger.Lines.From(before), static line => line.Contains(Full, StringComparison.Ordinal));
    });

    [MountFact]
    public void Ledger_KilledOnAFullDisk_RecoversWithMoreSpace() => RunFull((disk, ledger) =>
    {
        ledger.AwaitLine("line about the full disk", static line => line.Contains(Full, StringComparison.Ordinal));
        ledger.KillCoordinator();
        disk.Resize(256);
        ledger.Start();
    });

    private static void RunFull(Action<SmallDisk, Replica> body)
    {
        using var cluster = new Cluster();
        (Replica source, Replica ledger) = cluster.Pair(Calls, burst: 50);
        source.Settings["FILL"] = $"{FillBytes}";
        using var disk = new SmallDisk(ledger.LogDirectory, DiskMebibytes);
        ledger.Options.AddRange(["--segment", "2M", "--checkpoint-every", "1G"]);
        cluster.Run(Cluster.Again(nameof(FullDiskTests)), () =>
        {
            ledger.Start();
            source.Start();
            body(disk, ledger);
            Cluster.AssertEqual(source, Calls);
            cluster.AssertNoneGaveUp();
            disk.Dispose();
        });
    }
}
