using System.Text.Json;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>What operators do with instances whose catalog is in a store: each command finds it there, or needs none.</summary>
internal static class OperatorCommands
{
    /// <summary>Two instances are shown, a standby is promoted, a peer whose log is gone is forgotten, and the catalog is copied.</summary>
    /// <param name="program">The coordinators' program.</param>
    /// <param name="settings">What coordinators and commands find in their environment.</param>
    public static void AssertWork(Cluster cluster, string place, string program, IReadOnlyDictionary<string, string> settings)
    {
        ReplicaSet source = NewSet("source"), ledger = NewSet("ledger");
        ledger.Start(2);
        source.Start(1);
        ReplicaSet.AwaitCaughtUp(ledger.Members[1]);
        Cluster.Await("an open link in the status", () => LinkOf(Status()) == "open");
        string copy = Path.Combine(cluster.Root, "copy");
        Tool refused = Tool.With(settings, "catalog", "copy", place, copy);
        Assert.Equal(2, refused.Code);
        Assert.Contains("is not stopped", refused.Error, StringComparison.Ordinal);
        Assert.False(Directory.Exists(copy));

        Tool promoted = Tool.With(settings, "promote", ledger.Members[1].LogDirectory, "r1");
        Assert.True(promoted.Code == 0, promoted.Error);
        Cluster.Await("its epoch in the status", () => PrimaryOf(Status(), "ledger") is ("r1", 2));
        ledger.KillAll();
        Directory.Delete(ledger.Members[0].LogDirectory, recursive: true);
        ledger.Members[0].Options.Add("--create");
        ledger.Members[0].Start().AwaitReady();
        source.Members[0].AwaitLine("the way out",
            static line => line.Contains("ambrosia forget-peer DIR ledger", StringComparison.Ordinal));
        Tool forgotten = Tool.With(settings, "forget-peer", source.Members[0].LogDirectory, "ledger");
        Assert.True(forgotten.Code == 0, forgotten.Error);
        Cluster.Await("the link to the new ledger", () => LinkOf(Status()) == "open");

        foreach (ReplicaSet set in new[] { source, ledger }) set.Members[0].StopCoordinator();
        Tool copied = Tool.With(settings, "catalog", "copy", place, copy);
        Assert.True(copied.Code == 0, copied.Error);
        Assert.Contains("2 entries and the secret", copied.Output, StringComparison.Ordinal);

        JsonElement Status() => Tool.With(settings, "status", "--catalog", place, "--json").Json;

        ReplicaSet NewSet(string name)
        {
            var set = new ReplicaSet(cluster, name, name) { Program = program };
            foreach ((string key, string value) in settings) set.Settings[key] = value;
            set.Settings["CALLS"] = "200";
            set.Settings["UNTIL"] = cluster.Until;
            set.Options.AddRange(["--catalog", place, "--insecure"]);
            return set;
        }
    }

    /// <summary>
    /// Stops instances and copies their catalog, which has one entry of each: that of the epoch in which it was primary last.
    /// </summary>
    public static void AssertRight(Cluster cluster, string place, IReadOnlyDictionary<string, string> settings, params Replica[] replicas)
    {
        string copy = Path.Combine(cluster.Root, "copy");
        string[] expected = [.. replicas.Select(static each => $"{each.Name}.{ReplicaSet.EpochOf(each)}").Append("secret").Order()];
        foreach (Replica each in replicas) each.StopCoordinator();
        Tool copied = Tool.With(settings, "catalog", "copy", place, copy);
        Assert.True(copied.Code == 0, copied.Error);
        Assert.Equal(expected, Directory.EnumerateFiles(copy).Select(Path.GetFileName).Order());
    }

    private static string? LinkOf(JsonElement status) =>
        Primary(status, "source") is { } primary && primary.GetProperty("links").EnumerateArray().ToArray() is [var link]
            ? link.GetProperty("state").GetString() : null;

    private static (string?, ulong) PrimaryOf(JsonElement status, string instance) => Primary(status, instance) is { } primary
        ? (primary.GetProperty("replica").GetString(), primary.GetProperty("epoch").GetUInt64()) : default;

    /// <summary>What the primary of an instance says of itself; null: nobody says that it is one.</summary>
    private static JsonElement? Primary(JsonElement status, string instance)
    {
        foreach (JsonElement each in status.GetProperty("instances").EnumerateArray())
        {
            if (each.GetProperty("instance").GetString() != instance) continue;
            foreach (JsonElement replica in each.GetProperty("replicas").EnumerateArray())
                if (replica.GetProperty("role").GetString() == "primary") return replica;
        }
        return null;
    }
}
