namespace Ambrosia.EndToEnd.Tests;

/// <summary>A source and a ledger, each of one replica or several, under load until the test says that it is enough.</summary>
public abstract class ReplicaTests
{
    protected const int Calls = 2000;

    private protected static (ReplicaSet Source, ReplicaSet Ledger) Pair(Cluster cluster, params string[] options)
    {
        ReplicaSet source = new(cluster, "source", "source"), ledger = new(cluster, "ledger", "ledger");
        source.Settings["CALLS"] = $"{Calls}";
        source.Settings["BURST"] = "50";
        source.Settings["UNTIL"] = cluster.Until;
        foreach (ReplicaSet set in new[] { source, ledger })
            set.Options.AddRange(options.Contains("--checkpoint-every") ? options : ["--checkpoint-every", "4M", .. options]);
        return (source, ledger);
    }

    /// <summary>Two replicas of each, of which the second has caught up.</summary>
    private protected static (ReplicaSet Source, ReplicaSet Ledger) StartTwice(Cluster cluster)
    {
        (ReplicaSet source, ReplicaSet ledger) = Pair(cluster);
        ledger.Start(2);
        source.Start(2);
        foreach (ReplicaSet set in new[] { source, ledger }) ReplicaSet.AwaitCaughtUp(set.Members[1]);
        return (source, ledger);
    }

    /// <summary>The load ends; whoever is primary of the source then says whether all is equal.</summary>
    private protected static void Finish(Cluster cluster, ReplicaSet source)
    {
        File.Create(cluster.Until).Dispose();
        string? verdict = null;
        Cluster.Await("verdict",
            () =>
                (verdict =
                    source.Members.Select(static m => m.Lines.Find(static line => line.StartsWith("verdict ", StringComparison.Ordinal)))
                        .FirstOrDefault(static v => v is not null)) is not null);
        Assert.StartsWith("verdict equal: expected ", verdict);
        foreach (Replica member in source.Members) // every replica executes the same log, so each that says something says the same
            Assert.DoesNotContain(member.Lines.From(0), static line => line.StartsWith("verdict different", StringComparison.Ordinal));
    }
}
