using System.Globalization;
using System.Text.Json;
using System.Text.Json.Nodes;

namespace Ambrosia.Tools;

/// <summary>What all replicas say of themselves that a catalog leads to and that answer on this machine, at about one moment.</summary>
internal sealed record CatalogStatus(string Catalog, IReadOnlyList<InstanceStatus> Instances) : IReport
{
    public static CatalogStatus Read(string catalog)
    {
        var files = new ReadOnlyFiles();
        return new CatalogStatus(catalog, [.. Entries(catalog).Select(entry => InstanceStatus.Read(files, entry.Instance, entry.Log))]);
    }

    /// <summary>Every instance has a primary.</summary>
    public bool IsAtWork() => Instances.All(static i => i.Problem is null);

    /// <summary>Each instance's entry of the highest epoch (protocol P8).</summary>
    private static IEnumerable<(string Instance, string Log)> Entries(string catalog)
    {
        var newest = new SortedDictionary<string, (ulong Epoch, string Log)>(StringComparer.Ordinal);
        foreach (string path in Directory.EnumerateFiles(catalog))
        {
            string[] name = Path.GetFileName(path).Split('.');
            if (name.Length != 2 || !ulong.TryParse(name[1], out ulong epoch)
                || (newest.TryGetValue(name[0], out var known) && known.Epoch >= epoch)) continue;
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

    public void Draw(Screen screen)
    {
        if (Instances.Count == 0) screen.Line($"{Catalog} names no instance yet.");
        else screen.Table(Table());
        foreach (InstanceStatus instance in Instances)
        {
            if (instance.Problem is { } problem) screen.Line($"{instance.Instance}: {problem}", Tone.Bad);
            foreach (ReplicaStatus replica in instance.Replicas) Draw(screen, instance.Instance, replica);
        }
    }

    private static void Draw(Screen screen, string instance, ReplicaStatus replica)
    {
        foreach (OrphanedCalls orphan in replica.Orphaned)
        {
            string why = replica.Links.FirstOrDefault(link => link.Peer == orphan.To)?.Why is { } end ? $": {end}" : "";
            screen.Line(
                $"{instance}: {orphan.Calls} {(orphan.Calls == 1 ? "call" : "calls")} to {orphan.To} wait, and no link leads there{why}",
                Tone.Warning);
        }
        if (replica.WaitsFor is { } awaited)
            screen.Line(
                $"{instance}: the app waits for room for its outputs: {replica.SpilledBytes >> 20} MiB are on disk, most of what is kept is for {awaited}",
                Tone.Bad);
        if (replica.CheckpointFailure is { } failure)
            screen.Line($"{instance}: {replica.Replica} takes no checkpoint: {failure}", Tone.Warning);
        foreach (LinkStatus link in replica.Links)
            if (link.State == "stopped") screen.Line($"{instance}: the link to {link.Peer} is stopped: {link.Why}", Tone.Bad);
    }

    private TextTable Table()
    {
        var table = new TextTable("instance", "replica", "role", ">epoch", ">executed", ">durable", ">lag", ">kept calls", "links");
        foreach (InstanceStatus instance in Instances)
        {
            if (instance.Replicas.Count == 0) table.Add(instance.Instance, "-", "-", "", "", "", "", "", "");
            foreach (ReplicaStatus r in instance.Replicas)
                table.Add(instance.Instance, r.Replica, r.Role, Cell(r.Epoch), Cell(r.Executed), Cell(r.Durable), Cell(r.LagBytes),
                    Cell(r.KeptCalls), string.Join(" ", r.Links.Select(static l => $"{l.Peer}:{l.State}")));
        }
        return table;
    }

    private static string Cell(ulong? number) => number?.ToString(CultureInfo.InvariantCulture) ?? "";
}
