using System.Diagnostics;
using Ambrosia.TestKit;
using CRA.Catalog;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>Instances whose names are in a table of Azurite, with coordinators that have Azure's store.</summary>
public sealed class AzureTests
{
    private const string ConnectionVariable = "AMBROSIA_CATALOG_CONNECTION_FILE", Place = $"azure-tables://{AzuriteServer.Account}/names";
    private const int KillsOfARelease = 10, KillsMin = 1, CallsOfARelease = 20_000;

    /// <summary>A release does without any table for a minute; a commit for as long as a record takes.</summary>
    private static readonly TimeSpan s_withoutTables = TimeSpan.FromMinutes(TestScale.Value < 1 ? 0 : 1);

    [AzuriteFact]
    public void Instances_WhoseTableAndWhoThemselvesAreKilled_AgreeOnEveryCall()
    {
        using var azurite = new AzuriteServer();
        using var cluster = new Cluster();
        int calls = TestScale.Rounds(CallsOfARelease);
        (Replica source, Replica ledger) = cluster.Pair(calls, burst: 20);
        source.Settings["UNTIL"] = cluster.Until;
        string connection = ConnectionFile(cluster, azurite);
        foreach (Replica each in new[] { source, ledger })
        {
            each.Program = Executables.CoordinatorWithAzure;
            each.Settings[ConnectionVariable] = connection;
            each.Options.AddRange(["--catalog", Place, "--insecure"]);
        }
        cluster.Run(Cluster.Again(nameof(Instances_WhoseTableAndWhoThemselvesAreKilled_AgreeOnEveryCall)), () =>
        {
            ledger.Start();
            source.Start();
            ledger.AwaitReady();
            source.AwaitReady();
            // Azure's tables lose nothing; without its secret a catalog would make another one, which the peer does not know.
            Cluster.Await("a secret that outlives Azurite", () => azurite.HasSaved(DirectoryCatalog.SecretName));
            for (int kill = 0; kill < Math.Max(KillsMin, TestScale.Rounds(KillsOfARelease)); kill++)
            {
                ledger.AwaitRecords($"before kill {kill}");
                ledger.KillCoordinator();
                ledger.Start();
                ledger.AwaitReady();
                azurite.Kill(); // who is connected needs no store
                ledger.KillApp();
                ledger.AwaitReady();
                azurite.Start();
            }
            ledger.AwaitRecords("over the link that stays");
            azurite.Kill();
            long gone = Stopwatch.GetTimestamp();
            do ledger.AwaitRecords("while there are no tables");
            while (Stopwatch.GetElapsedTime(gone) < s_withoutTables);
            azurite.Start();
            ledger.KillCoordinator();
            ledger.Start();
            ledger.AwaitReady(); // whoever is ready has published: an emulator that is killed has lost its last seconds
            File.Create(cluster.Until).Dispose();
            Cluster.AssertEqual(source, calls);
            cluster.AssertNoneGaveUp();
            OperatorCommands.AssertRight(
                cluster, Place, new Dictionary<string, string> { [ConnectionVariable] = connection }, source, ledger);
        });
        Assert.False(Directory.Exists(cluster.Catalog));
    }

    [AzuriteFact(IsOfARelease = true)]
    public void Commands_OfOperators_FindTheCatalogInATable()
    {
        using var azurite = new AzuriteServer();
        using var cluster = new Cluster();
        var settings = new Dictionary<string, string> { [ConnectionVariable] = ConnectionFile(cluster, azurite) };
        cluster.Run(Cluster.Again(nameof(Commands_OfOperators_FindTheCatalogInATable)),
            () => OperatorCommands.AssertWork(cluster, Place, Executables.CoordinatorWithAzure, settings));
        Assert.False(Directory.Exists(cluster.Catalog));
    }

    [AzuriteFact]
    public void Coordinator_WithATableOfOthers_IsRefusedAndMakesNothing()
    {
        using var azurite = new AzuriteServer();
        using var cluster = new Cluster();
        azurite.PutEntity("names", "customers", "42");
        cluster.Run(Cluster.Again(nameof(Coordinator_WithATableOfOthers_IsRefusedAndMakesNothing)), () =>
        {
            string log = Path.Combine(cluster.Root, "log");
            Tool refused = Tool.Of(Executables.CoordinatorWithAzure, ["--log", log, "--catalog", Place, "--insecure"],
                settings: new Dictionary<string, string> { [ConnectionVariable] = ConnectionFile(cluster, azurite) });
            CatalogMisuseTests.AssertMisuse(refused, log, "holds 'customers/42'", "a place of its own");
        });
    }

    private static string ConnectionFile(Cluster cluster, AzuriteServer azurite)
    {
        string path = Path.Combine(cluster.Root, "connection");
        File.WriteAllText(path, azurite.Connection);
        File.SetUnixFileMode(path, UnixFileMode.UserRead | UnixFileMode.UserWrite);
        return path;
    }
}

/// <summary>A test that needs Azurite; skipped, with the reason, where it is not installed.</summary>
[AttributeUsage(AttributeTargets.Method)]
internal sealed class AzuriteFactAttribute : FactAttribute
{
    public AzuriteFactAttribute() => Skip = AzuriteServer.WhyNot;

    /// <summary>A commit has the same with another store.</summary>
    public bool IsOfARelease
    {
        get;
        init
        {
            field = value;
            if (value && TestScale.Value < 1) Skip ??= $"a commit has it with etcd: {TestScale.Variable}=1";
        }
    }
}
