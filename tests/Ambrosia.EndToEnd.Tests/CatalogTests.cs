using System.Text.Json.Nodes;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>What a running coordinator does when the catalog says that it should not be there.</summary>
public sealed class CatalogTests
{
    /// <summary>A higher epoch in the catalog: somebody else is primary, so this one stops (75).</summary>
    [Fact]
    public void Publish_OverAHigherEpoch_EndsWith75() => AssertEnds(75, "higher epoch", static entry => entry["epoch"] = 9, "ledger.9");

    /// <summary>Another UUID under the name: two instances have one name, and the one that comes second says so loudly.</summary>
    [Fact]
    public void Publish_OfATakenName_EndsWith2() =>
        AssertEnds(2, "belongs to another instance", static entry => entry["uuid"] = "11111111-2222-3333-4444-555555555555", "ledger.1");

    [Fact]
    public void Publish_WithACatalogThatCannotBeWritten_SaysSoOnceAndGoesOn()
    {
        using var cluster = new Cluster();
        (Replica source, Replica ledger) = cluster.Pair(calls: 200);
        cluster.Run(Cluster.Again(nameof(CatalogTests)), () =>
        {
            string entry = Path.Combine(cluster.Root, "catalog", "ledger.1");
            ledger.Start();
            ledger.AwaitReady();
            string text = File.ReadAllText(entry);
            Directory.CreateDirectory(Path.Combine(cluster.Root, "catalog", "ledger.1.moved"));
            File.Delete(entry);
            Directory.CreateDirectory(entry); // nothing can be renamed over a directory
            ledger.AwaitLine("line about the catalog",
                static line => line.StartsWith("catalog: the entry of ledger cannot be published", StringComparison.Ordinal));
            Directory.Delete(entry);
            Cluster.Await("the entry again", () => File.Exists(entry));
            Assert.Equal(text, File.ReadAllText(entry));
            source.Start();
            Cluster.AssertEqual(source, 200);
            cluster.AssertNoneGaveUp();
        });
    }

    private static void AssertEnds(int code, string said, Action<JsonNode> change, string file)
    {
        using var cluster = new Cluster();
        Replica ledger = cluster.Add("ledger", "ledger");
        cluster.Run(Cluster.Again(nameof(CatalogTests)), () =>
        {
            ledger.Start();
            ledger.AwaitReady();
            string catalog = Path.Combine(cluster.Root, "catalog");
            JsonNode entry = JsonNode.Parse(File.ReadAllText(Path.Combine(catalog, "ledger.1")))!;
            change(entry);
            File.WriteAllText(Path.Combine(catalog, ".new"), entry.ToJsonString());
            File.Move(Path.Combine(catalog, ".new"), Path.Combine(catalog, file), overwrite: true);
            Assert.Equal(code, ledger.AwaitExit());
            ledger.AwaitLine("the reason",
                line => line.StartsWith($"exit {code}: ", StringComparison.Ordinal) && line.Contains(said, StringComparison.Ordinal));
        });
    }
}
