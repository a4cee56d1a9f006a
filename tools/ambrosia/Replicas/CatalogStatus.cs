using System.Text.Json;
using System.Text.Json.Nodes;
using Ambrosia.Coordinator.Pumps;
using Ambrosia.Log;

namespace Ambrosia.Tools;

/// <summary>What all replicas say of themselves that a catalog leads to, at about one moment.</summary>
internal sealed record CatalogStatus(IReadOnlyList<ReplicaStatus> Replicas) : IReport
{
    private static readonly TimeSpan patience = TimeSpan.FromSeconds(2);

    public static CatalogStatus Read(string catalog)
    {
        var files = new ReadOnlyFiles();
        var replicas = new List<ReplicaStatus>();
        foreach ((string instance, string log) in Entries(catalog))
        {
            List<ReplicaStatus> running = [.. AdminClient.Replicas(files, log).Select(replica => Ask(files, instance, log, replica)).OfType<ReplicaStatus>()];
            if (running.Count == 0) replicas.Add(ReplicaStatus.Nobody(instance));
            ulong durable = running.Count == 0 ? 0 : running.Max(static r => r.Durable);
            replicas.AddRange(running.Select(r => r with { LagBytes = durable - Math.Min(durable, r.Executed) }));
        }
        return new CatalogStatus(replicas);
    }

    /// <summary>Each instance's entry of the highest epoch (protocol P8).</summary>
    private static IEnumerable<(string Instance, string Log)> Entries(string catalog)
    {
        var newest = new SortedDictionary<string, (ulong Epoch, string Log)>(StringComparer.Ordinal);
        foreach (string path in Directory.EnumerateFiles(catalog))
        {
            string[] name = Path.GetFileName(path).Split('.');
            if (name.Length != 2 || !ulong.TryParse(name[1], out ulong epoch) || (newest.TryGetValue(name[0], out var known) && known.Epoch >= epoch)) continue;
            if (LogOf(path) is { } log) newest[name[0]] = (epoch, log);
        }
        return newest.Select(static pair => (pair.Key, pair.Value.Log));
    }

    private static string? LogOf(string path)
    {
        try
        {
            return (string?)JsonNode.Parse(File.ReadAllText(path))?["log"];
        }
        catch (Exception e) when (e is JsonException or FileNotFoundException or InvalidOperationException)
        {
            return null; // being replaced, or no entry
        }
    }

    private static ReplicaStatus? Ask(IFileSystem files, string instance, string log, string replica)
    {
        try
        {
            return AdminClient.Ask(files, log, replica, new JsonObject { ["command"] = "status" }, patience).Select(answer => ReplicaStatus.Of(instance, answer)).LastOrDefault();
        }
        catch (AdminUnreachableException)
        {
            return null; // its place is still named, and nobody is there
        }
    }

    public void Draw(Screen screen)
    {
        var table = new TextTable("instance", "replica", "role", ">epoch", ">executed", ">durable", ">lag", "links", ">kept calls");
        foreach (ReplicaStatus r in Replicas)
            table.Add(r.Instance, r.Replica, r.Role, $"{r.Epoch}", $"{r.Executed}", $"{r.Durable}", $"{r.LagBytes}", string.Join(" ", r.Links), $"{r.KeptCalls}");
        screen.Table(table);
        foreach (ReplicaStatus r in Replicas)
            foreach (string orphan in r.Orphaned) screen.Line($"{r.Instance}: {orphan}", Tone.Warning);
    }
}
