using Ambrosia.EndToEnd.App;

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
        ledger.Lines.Await("line about the full disk", static line => line.Contains(Full, StringComparison.Ordinal), before,
            Cluster.Patience);
        Assert.True(ledger.IsRunning);
        disk.Resize(256);
        ledger.Lines.Await("line about the space",
            static line => line.Contains("there is space for the log again", StringComparison.Ordinal), before, Cluster.Patience);
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

    [MountFact]
    public void Ledger_StartedOnAFullDisk_WaitsForSpace()
    {
        using var cluster = new Cluster();
        (Replica source, Replica ledger) = cluster.Pair(Calls, burst: 50);
        using var disk = new SmallDisk(ledger.LogDirectory, DiskMebibytes);
        ledger.Options.AddRange(["--segment", "2M"]);
        cluster.Run(Cluster.Again(nameof(Ledger_StartedOnAFullDisk_WaitsForSpace)), () =>
        {
            ledger.Start().AwaitReady();
            ledger.KillCoordinator();
            foreach (string spare in Directory.EnumerateFiles(ledger.LogDirectory, "spare.*")) File.Delete(spare);
            string filling = Path.Combine(ledger.LogDirectory, "filling");
            Assert.ThrowsAny<IOException>(() => File.WriteAllBytes(filling, new byte[DiskMebibytes << 20]));
            ledger.Start();
            ledger.AwaitLine("line about the full disk", static line => line.Contains(Full, StringComparison.Ordinal));
            Assert.True(ledger.IsRunning);
            File.Delete(filling);
            ledger.AwaitReady();
            source.Start();
            Cluster.AssertEqual(source, Calls);
            disk.Dispose();
        });
    }

    /// <summary>
    /// Outputs for one who is away fill the disk beside the log, not the log's own space: the app waits, with a line, memory stays bounded,
    /// others are answered. It goes on with more space, or when he comes, and he gets everything.
    /// </summary>
    [MountTheory]
    [InlineData(true)]
    [InlineData(false)]
    public void Sender_WhoseOutputsFillTheDisk_WaitsAndGoesOn(bool withSpace)
    {
        using var cluster = new Cluster();
        Replica sender = Flooder(cluster, "sender", "away", Floods), away = Flooder(cluster, "away", "near", 1),
            near = Flooder(cluster, "near", "sender", NearFloods);
        using var disk = new SmallDisk(sender.LogDirectory, SpillDiskMebibytes);
        sender.Options.AddRange(["--segment", "4M"]);
        cluster.Run(Cluster.Again(nameof(Sender_WhoseOutputsFillTheDisk_WaitsAndGoesOn)), () =>
        {
            sender.Start();
            sender.AwaitLine("line about the outputs",
                static line => line.StartsWith("outputs wait: the disk has no room", StringComparison.Ordinal));
            Assert.True((bool?)sender.Status()!["spill"]!["isAwaited"]);
            Assert.Matches("^sender: the app waits for room for its outputs: [0-9]+ MiB are on disk, most of what is kept is for away$",
                StatusLine(cluster, "waits for room"));
            Assert.True((long?)sender.Status()!["disk"]!["freeBytes"] >= SegmentsLeftBytes, "the log's space was taken");
            near.Start(); // its calls are logged meanwhile, though the app waits
            Cluster.Await("the near one's calls in the log", () => ConnectionOrderTests.Trimmed(near, "sender") >= NearFloods);
            if (withSpace) disk.Resize(4 * SpillDiskMebibytes);
            else away.Start();
            sender.AwaitLine("line about the room", static line => line.StartsWith("outputs go on", StringComparison.Ordinal));
            if (withSpace) away.Start();
            Cluster.AssertEqual(sender, Floods);
            Cluster.AssertEqual(near, NearFloods);
            Assert.True(sender.PeakBytes() < ResidentBytesMax, $"the coordinator had {sender.PeakBytes() >> 20} MiB");
            Assert.DoesNotContain(sender.Lines.From(0), static line => line.Contains(Full, StringComparison.Ordinal));
            cluster.AssertNoneGaveUp();
            disk.Dispose();
        });
    }

    /// <summary>What <c>ambrosia status</c> says below its table.</summary>
    private static string? StatusLine(Cluster cluster, string part) =>
        Tool.Run("status", "--catalog", Path.Combine(cluster.Root, "catalog")).Output.Split('\n')
            .FirstOrDefault(line => line.Contains(part, StringComparison.Ordinal));

    private const int Floods = 15_000, NearFloods = 100, SpillDiskMebibytes = 64, SegmentsLeftBytes = 4 << 20;
    private const long ResidentBytesMax = 400L << 20;

    private static Replica Flooder(Cluster cluster, string name, string peer, int calls)
    {
        Replica replica = cluster.Add(name, "flooder");
        replica.Settings["PEER"] = peer;
        replica.Settings["CALLS"] = $"{calls}";
        replica.Settings["FILL"] = $"{FillBytes}";
        return replica;
    }

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
