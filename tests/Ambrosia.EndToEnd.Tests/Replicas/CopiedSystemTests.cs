using Ambrosia.TestKit;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>
/// An idle system is copied with its catalog, and both are started. Whatever one of the two finds first, the other is refused in words that
/// are right for both, and what is legal goes on: a directory that was renamed, a restored one, a machine with another name.
/// </summary>
public sealed class CopiedSystemTests
{
    private const int Calls = 50, Misuse = 2, NotPrimary = 75;

    /// <summary>Both have made and counted all calls, and nothing is under way.</summary>
    private static (Replica Source, Replica Ledger) IdlePair(Cluster cluster, string? catalog = null)
    {
        (Replica source, Replica ledger) = cluster.Pair(Calls);
        if (catalog is not null)
            foreach (Replica replica in new[] { source, ledger }) replica.Options.AddRange(["--catalog", catalog, "--insecure"]);
        ledger.Start();
        source.Start();
        Cluster.AssertEqual(source, Calls);
        return (source, ledger);
    }

    private static void Copy(string from, string to) => Assert.Equal("", SmallDisk.Run("cp", "-a", from, to));

    /// <summary>The source again, on a copy of its directory and, unless one is given, of its catalog.</summary>
    private static Replica CopyOf(Cluster cluster, Replica source, string? catalog = null)
    {
        Replica copy = cluster.Add("copied", "source");
        foreach ((string key, string value) in source.Settings) copy.Settings[key] = value;
        Copy(source.LogDirectory, copy.LogDirectory);
        string own = Path.Combine(cluster.Root, "copied-catalog");
        if (catalog is null) Copy(cluster.Catalog, own);
        copy.Options.AddRange(["--instance", "source", "--catalog", catalog ?? own]);
        if (catalog is not null) copy.Options.Add("--insecure");
        return copy;
    }

    /// <summary>Stands before a command that is to run where a directory cannot be seen, as on another machine.</summary>
    private static string[] Without(string directory) =>
        ["unshare", "-m", "sh", "-c", "mount -t tmpfs none \"$0\" && exec \"$@\"", directory];

    private static void AwaitRefusal(Replica copy)
    {
        Assert.Equal(Misuse, copy.AwaitExit());
        copy.AwaitLine("reason", static line =>
            line.Contains("a primary of 'source'", StringComparison.Ordinal)
            && line.Contains("one of the two is a copy", StringComparison.Ordinal));
    }

    [MountFact]
    public void Copy_StartedWhereTheOriginalIsNotSeen_AsksAtItsAddressAndIsRefused()
    {
        using var cluster = new Cluster();
        cluster.Run(Cluster.Again(nameof(Copy_StartedWhereTheOriginalIsNotSeen_AsksAtItsAddressAndIsRefused)), () =>
        {
            (Replica source, Replica ledger) = IdlePair(cluster);
            Replica copy = CopyOf(cluster, source);
            copy.Start(null, true, Without(source.LogDirectory));
            AwaitRefusal(copy);
            Assert.True(source.IsRunning && ledger.IsRunning);
            cluster.AssertNoneGaveUp();
        });
    }

    [MountFact]
    public void Copy_InTheCatalogOfAStore_AsksAtTheOriginalsAddressAndIsRefused()
    {
        if (EtcdServers.WhyNot is not null) return; // the directory's catalog is judged by the same code
        using var etcd = new EtcdServers(1);
        string place = $"etcd://{etcd.Endpoints}/copied";
        using var cluster = new Cluster();
        cluster.Run(Cluster.Again(nameof(Copy_InTheCatalogOfAStore_AsksAtTheOriginalsAddressAndIsRefused)), () =>
        {
            (Replica source, Replica ledger) = IdlePair(cluster, place);
            Replica copy = CopyOf(cluster, source, place);
            copy.Start(null, true, Without(source.LogDirectory));
            AwaitRefusal(copy);
            Assert.True(source.IsRunning && ledger.IsRunning);
        });
    }

    /// <summary>
    /// The copy has spoken to the peer while the original was down: the original ends, at each start, until the copy is gone.
    /// </summary>
    [Fact]
    public void Original_StartedBehindItsCopy_EndsInWordsForBothUntilTheCopyIsStopped()
    {
        using var cluster = new Cluster();
        cluster.Run(Cluster.Again(nameof(Original_StartedBehindItsCopy_EndsInWordsForBothUntilTheCopyIsStopped)), () =>
        {
            (Replica source, Replica ledger) = IdlePair(cluster);
            source.KillCoordinator();
            Replica copy = CopyOf(cluster, source);
            string away = source.LogDirectory + ".away";
            Directory.Move(source.LogDirectory, away); // as on another machine
            copy.Start().AwaitReady();
            AwaitLink(copy, ledger);
            Directory.Move(away, source.LogDirectory);
            for (int start = 0; start < 3; start++) // a supervisor starts it again, each time in a higher epoch
            {
                source.Start();
                Assert.Equal(NotPrimary, source.AwaitExit());
                source.AwaitLine("reason", static line => line.StartsWith("exit ", StringComparison.Ordinal)
                    && line.Contains("one of which is a copy", StringComparison.Ordinal)
                    && line.Contains("start ledger again behind it", StringComparison.Ordinal));
            }
            Assert.True(copy.IsRunning && ledger.IsRunning);
            copy.KillCoordinator();
            ledger.KillCoordinator(); // as the line says: the original is the one to go on
            ledger.Start().AwaitReady();
            source.Start().AwaitReady();
            AwaitLink(source, ledger);
            Assert.True(source.IsRunning);
        });
    }

    private static void AwaitLink(Replica source, Replica ledger) =>
        Cluster.Await("the link is open", () => source.Status()?["links"]?.AsArray() is [var link]
            && link?["state"]?.ToString() == "open" && ledger.IsRunning);

    /// <summary>None of these is a copy: no answer comes from the address, or one of another instance.</summary>
    [MountFact]
    public void Directory_RenamedRestoredOrOnAMachineOfAnotherName_Starts()
    {
        using var cluster = new Cluster();
        cluster.Run(Cluster.Again(nameof(Directory_RenamedRestoredOrOnAMachineOfAnotherName_Starts)), () =>
        {
            (Replica source, Replica ledger) = IdlePair(cluster);
            source.KillCoordinator();
            source.Start(null, true, "unshare", "-u", "sh", "-c", "hostname elsewhere && exec \"$0\" \"$@\"").AwaitReady();
            AwaitLink(source, ledger);
            source.KillCoordinator();

            Replica renamed = cluster.Add("renamed", "source");
            foreach ((string key, string value) in source.Settings) renamed.Settings[key] = value;
            renamed.Options.AddRange(["--instance", "source"]);
            Directory.Move(source.LogDirectory, renamed.LogDirectory);
            renamed.Start().AwaitReady();
            AwaitLink(renamed, ledger);
            renamed.KillCoordinator();

            Copy(renamed.LogDirectory, source.LogDirectory); // from a backup, to where it was before
            Directory.Delete(renamed.LogDirectory, recursive: true);
            source.Start().AwaitReady();
            AwaitLink(source, ledger);
            Assert.True(ledger.IsRunning);
        });
    }
}
