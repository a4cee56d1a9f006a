namespace Ambrosia.EndToEnd.Tests;

/// <summary>Copies, backups, names given twice: refused, with a word that says which.</summary>
public sealed class PlaceTests : ReplicaTests
{
    private const int Misuse = 2;

    [Fact]
    public void Replica_OfANameThatRuns_IsRefused()
    {
        using var cluster = new Cluster();
        cluster.Run(Cluster.Again(nameof(PlaceTests)), () =>
        {
            (_, ReplicaSet ledger) = Pair(cluster);
            ledger.Start(1);
            Replica twin = cluster.Add("ledger", "ledger").Start(withApp: false);
            Assert.Equal(Misuse, twin.AwaitExit());
            twin.AwaitLine("reason",
                static line => line.Contains("replica 'r0' of 'ledger' runs", StringComparison.Ordinal)
                    && line.Contains("--replica", StringComparison.Ordinal));
        });
    }

    [Fact]
    public void Standby_OnACopyOfTheLog_IsRefused()
    {
        using var cluster = new Cluster();
        cluster.Run(Cluster.Again(nameof(PlaceTests)), () =>
        {
            (_, ReplicaSet ledger) = Pair(cluster);
            ledger.Start(1);
            Replica copy = cluster.Add("copy", "ledger");
            Copy(ledger.Members[0].LogDirectory, copy.LogDirectory);
            copy.Options.AddRange(["--instance", "ledger", "--replica", "r1"]);
            copy.Start(withApp: false);
            Assert.Equal(Misuse, copy.AwaitExit());
            copy.AwaitLine("reason", static line => line.Contains("is a copy of the log", StringComparison.Ordinal));
        });
    }

    /// <summary>The same directory through two mounts, as a container may see it.</summary>
    [MountFact]
    public void Standby_OnTheSameDirectoryThroughAnotherMount_IsRefused()
    {
        using var cluster = new Cluster();
        cluster.Run(Cluster.Again(nameof(Standby_OnTheSameDirectoryThroughAnotherMount_IsRefused)), () =>
        {
            (ReplicaSet source, ReplicaSet ledger) = Pair(cluster);
            ledger.Start(1);
            source.Start(1);
            Replica other = cluster.Add("mounted", "ledger");
            Directory.CreateDirectory(other.LogDirectory);
            Assert.Equal("", SmallDisk.Run("mount", "--bind", ledger.Members[0].LogDirectory, other.LogDirectory));
            try
            {
                other.Options.AddRange(["--instance", "ledger", "--replica", "r1"]);
                other.Start(withApp: false);
                Assert.Equal(Misuse, other.AwaitExit());
                other.AwaitLine("reason", static line => line.Contains("or the same directory by another path", StringComparison.Ordinal));
            }
            finally
            {
                SmallDisk.Run("umount", "-l", other.LogDirectory);
            }
            Finish(cluster, source); // and the primary has not noticed
            cluster.AssertNoneGaveUp();
        });
    }

    [Fact]
    public void Log_PutBackFromABackup_IsRefused()
    {
        using var cluster = new Cluster();
        cluster.Run(Cluster.Again(nameof(PlaceTests)), () =>
        {
            (_, ReplicaSet ledger) = Pair(cluster);
            Replica replica = ledger.Start(1).Members[0];
            replica.KillCoordinator();
            string backup = Path.Combine(cluster.Root, "backup");
            Copy(replica.LogDirectory, backup);
            replica.Start();
            replica.AwaitReady();
            replica.KillCoordinator();
            Directory.Delete(replica.LogDirectory, recursive: true);
            Directory.Move(backup, replica.LogDirectory);
            replica.Start(withApp: false);
            Assert.Equal(Misuse, replica.AwaitExit());
            replica.AwaitLine("reason",
                static line => line.Contains("older copy", StringComparison.Ordinal) && line.Contains("epoch 2", StringComparison.Ordinal));
        });
    }

    [Fact]
    public void Directories_TwoOfOneName_SecondIsRefused()
    {
        using var cluster = new Cluster();
        cluster.Run(Cluster.Again(nameof(PlaceTests)), () =>
        {
            (_, ReplicaSet ledger) = Pair(cluster);
            ledger.Start(1);
            Replica other = cluster.Add("other", "ledger"); // made beside a catalog of its own, then brought to this one
            other.Options.AddRange(["--instance", "ledger", "--catalog", Path.Combine(cluster.Root, "elsewhere")]);
            other.Start().AwaitReady();
            other.KillCoordinator();
            other.Options.RemoveRange(2, 2);
            other.Start(withApp: false);
            Assert.Equal(Misuse, other.AwaitExit());
            other.AwaitLine("reason", static line => line.Contains("belongs to another instance", StringComparison.Ordinal));
        });
    }

    /// <summary>One side was deleted and made again: both say so and how to mend it, and that way works with nothing lost.</summary>
    [Fact]
    public void Log_DeletedOnOneSide_LinkStopsUntilItIsPutBack()
    {
        using var cluster = new Cluster();
        cluster.Run(Cluster.Again(nameof(Log_DeletedOnOneSide_LinkStopsUntilItIsPutBack)), () =>
        {
            (ReplicaSet source, ReplicaSet ledger) = Pair(cluster);
            Replica replica = ledger.Start(1).Members[0];
            Replica caller = source.Start(1).Members[0];
            Cluster.Await("calls have arrived",
                () =>
                    Tool.Run("status", "--catalog", Path.Combine(cluster.Root, "catalog"), "--json")
                        .Output.Contains("\"state\":\"open\"", StringComparison.Ordinal));
            replica.KillCoordinator();
            string backup = Path.Combine(cluster.Root, "backup");
            Directory.Move(replica.LogDirectory, backup);
            replica.Options.Add("--create");
            replica.Start();
            foreach (Replica side in new[] { caller, replica })
                side.AwaitLine("way out",
                    static line => line.Contains("source knows us as", StringComparison.Ordinal)
                        && line.Contains("Put the log back", StringComparison.Ordinal));
            replica.KillCoordinator();
            Directory.Delete(replica.LogDirectory, recursive: true);
            Directory.Move(backup, replica.LogDirectory);
            replica.Options.Remove("--create");
            replica.Start(withApp: false);
            Assert.Equal(Misuse, replica.AwaitExit());
            replica.AwaitLine("way out",
                static line => line.Contains("remove its entry from the catalog (the files 'ledger.*'", StringComparison.Ordinal));
            foreach (string entry in Directory.EnumerateFiles(Path.Combine(cluster.Root, "catalog"), "ledger.*")) File.Delete(entry);
            replica.Start();
            Finish(cluster, source);
        });
    }

    private static void Copy(string from, string to)
    {
        Directory.CreateDirectory(to);
        foreach (string file in Directory.EnumerateFiles(from))
            if (Path.GetFileName(file).Split('.')[0] is "instance" or "epoch" or "log" or "ckpt")
                File.Copy(file, Path.Combine(to, Path.GetFileName(file)));
    }
}
