using Ambrosia.TestKit;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>Instances whose names are in a table of Azurite, with coordinators that have Azure's store.</summary>
public sealed class AzureTests
{
    private const int KillsOfARelease = 10, KillsMin = 1, CallsOfARelease = 20_000;

    [AzuriteFact]
    public void Instances_WhoseTableAndWhoThemselvesAreKilled_AgreeOnEveryCall()
    {
        using var azurite = new AzuriteServer();
        using var cluster = new Cluster();
        int calls = TestScale.Rounds(CallsOfARelease);
        (Replica source, Replica ledger) = cluster.Pair(calls, burst: 20);
        source.Settings["UNTIL"] = cluster.Until;
        string connection = Path.Combine(cluster.Root, "connection");
        File.WriteAllText(connection, azurite.Connection);
        File.SetUnixFileMode(connection, UnixFileMode.UserRead | UnixFileMode.UserWrite);
        foreach (Replica each in new[] { source, ledger })
        {
            each.Program = Executables.CoordinatorWithAzure;
            each.Settings["AMBROSIA_CATALOG_CONNECTION_FILE"] = connection;
            each.Options.AddRange(["--catalog", $"azure-tables://{AzuriteServer.Account}/names", "--insecure"]);
        }
        cluster.Run(Cluster.Again(nameof(Instances_WhoseTableAndWhoThemselvesAreKilled_AgreeOnEveryCall)), () =>
        {
            ledger.Start();
            source.Start();
            ledger.AwaitReady();
            source.AwaitReady();
            for (int kill = 0; kill < Math.Max(KillsMin, TestScale.Rounds(KillsOfARelease)); kill++)
            {
                ulong durable = DurableOf(ledger);
                Cluster.Await("records", () => DurableOf(ledger) > durable);
                ledger.KillCoordinator();
                ledger.Start();
                ledger.AwaitReady();
                azurite.Kill(); // who is connected needs no store
                durable = DurableOf(ledger);
                ledger.KillApp();
                ledger.AwaitReady();
                azurite.Start();
            }
            File.Create(cluster.Until).Dispose();
            Cluster.AssertEqual(source, calls);
            cluster.AssertNoneGaveUp();
        });
        Assert.False(Directory.Exists(cluster.Catalog));
    }

    private static ulong DurableOf(Replica replica) => (ulong?)replica.Status()?["log"]?["durable"] ?? 0;
}

/// <summary>A test that needs Azurite; skipped, with the reason, where it is not installed.</summary>
[AttributeUsage(AttributeTargets.Method)]
internal sealed class AzuriteFactAttribute : FactAttribute
{
    public AzuriteFactAttribute() => Skip = AzuriteServer.WhyNot;
}
